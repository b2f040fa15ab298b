import { isDeepStrictEqual } from "node:util";
import { digest } from "../../client/state-directory";
import { isSealed } from "./sealed-value";
import type { Properties } from "./state-entry";

/** Create or update of a resource by the engine. */
export interface Step {
  readonly isCreate: boolean;
  /** Arguments that identify the step when it is tried again. */
  readonly args: Properties;
}

/**
 * Returns a digest of the engine's note of a killed create. It includes the id of the resource's provider, which is
 * unique to a stack until the stack is destroyed. Secrets are left out, because the state encrypts them.
 */
export function digestOfNote(inputs: Properties, provider = ""): string {
  const args = Object.entries(inputs).filter(([key]) => !key.startsWith("__"));
  const { __journal: journal = "" } = inputs;
  const providerId = provider.slice(provider.lastIndexOf("::") + 2);
  return digest([providerId, journal, canonical(Object.fromEntries(args))]);
}

/**
 * Whether a killed step may have had the same arguments. Secrets are encrypted in the state and cannot be compared, so
 * they may be equal.
 */
export function mayHaveArguments(inputs: Properties, args: Properties): boolean {
  return Object.keys(args).every(
    (key) => containsSealed(inputs[key]) || isDeepStrictEqual(canonical(inputs[key]), canonical(args[key])),
  );
}

function containsSealed(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isSealed(value) || Object.values(value).some(containsSealed);
}

/** Returns a value with sorted keys, without secrets, and without null, which the engine drops. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value ?? null;
  if (isSealed(value)) return "secret";
  const entries = Object.entries(value).filter(([, inner]) => inner != null);
  const sorted = entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, canonical(inner)]));
}
