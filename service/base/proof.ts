import { createHmac, timingSafeEqual } from "node:crypto";

/** Where a service answers, and which process it is: a former one may have had the same address. */
export interface Address {
  readonly url: string;
  readonly pid: number;
}

/**
 * What only a service that has the folder's key can answer to a challenge, and only at its own address:
 * so whoever took over a port neither knows it nor can get it by asking the service at another one.
 */
export function proofOf(key: string, { url, pid }: Address, challenge: string): string {
  return createHmac("sha256", key).update(`proof\n${url}\n${pid}\n${challenge}`).digest("base64url");
}

/** Whether an answer proves that the service has the key. */
export function isProof(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
