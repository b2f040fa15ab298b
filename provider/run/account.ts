import { embeddedDirectory, type Settings } from "../../client/settings";
import { digest } from "../../client/state-directory";

/**
 * Whether the configured API key can read objects that the stack created with a different key. "unknown" if the service
 * has no operation that reads them.
 */
export type VisibleObjects = "some" | "none" | "unknown";

/**
 * Returns a fingerprint of the API key, to detect a switch to a different account at the same address. Its 32 bits do
 * not reveal the key. Undefined for embedded services, whose data has an id instead.
 */
export function accountOf({ baseUrl, apiKey }: Settings): string | undefined {
  if (!apiKey || embeddedDirectory(baseUrl) !== undefined) return undefined;
  return digest([baseUrl.replace(/\/+$/, ""), apiKey]).slice(0, 8);
}
