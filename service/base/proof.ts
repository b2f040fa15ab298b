import { createHmac, timingSafeEqual } from "node:crypto";

/** Address of a service. The pid distinguishes it from an earlier process at the same URL. */
export interface Address {
  readonly url: string;
  readonly pid: number;
}

/**
 * Returns the response to a challenge that proves knowledge of the data directory's key without revealing it. The response
 * includes the address, so a process that took over the port cannot relay the challenge to the service at its new port.
 */
export function proofOf(key: string, { url, pid }: Address, challenge: string): string {
  return createHmac("sha256", key).update(`proof\n${url}\n${pid}\n${challenge}`).digest("base64url");
}

/** Compares a proof in constant time. */
export function isProof(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
