import { createHash } from "node:crypto";
import { embeddedDirectory, type Settings } from "../../client/settings";

/**
 * A fingerprint of the developer's key, by which the state and the journal tell accounts at one address apart. Its 32 bits
 * do not give the key away. It is undefined for embedded services: their data has an identity.
 */
export function accountOf({ baseUrl, apiKey }: Settings): string | undefined {
  if (!apiKey || embeddedDirectory(baseUrl) !== undefined) return undefined;
  const address = baseUrl.replace(/\/+$/, "");
  return createHash("sha256")
    .update(JSON.stringify([address, apiKey]))
    .digest("hex")
    .slice(0, 8);
}
