import { createHash } from "node:crypto";
import { embeddedDirectory, type Settings } from "../../client/settings";

/**
 * What a key shows of the objects that a stack created with another key: at least one of them, none of those that the
 * service can show, or "unknown" because the service can show no such object to anyone.
 */
export type VisibleObjects = "some" | "none" | "unknown";

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
