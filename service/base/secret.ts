import { createHash, randomBytes } from "node:crypto";

/** Creates a random secret. */
export function newSecret(bytes = 24): string {
  return randomBytes(bytes).toString("base64url");
}

/** Hashes a random secret for storage. A fast hash is enough, because nobody can guess 192 or more random bits. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
