import { createHmac, timingSafeEqual } from "node:crypto";

/** Address of a service. The pid distinguishes it from an earlier process at the same URL. */
export interface Address {
  readonly url: string;
  readonly pid: number;
}

/**
 * Responds to a challenge. The response proves that the service knows the key of the data directory, without revealing
 * it. It depends on the address, so a process that took over the port cannot relay the challenge to the service at its
 * new port.
 */
export function proofOf(key: string, { url, pid }: Address, challenge: string): string {
  return createHmac("sha256", key).update(`proof\n${url}\n${pid}\n${challenge}`).digest("base64url");
}

/** Compares a proof in constant time. */
export function isProof(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
