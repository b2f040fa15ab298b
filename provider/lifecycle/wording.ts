import { isSecret } from "../run/secrecy";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";

/** Description of a replacement, for messages. */
export interface Replacement {
  readonly id: string;
  /** Name of the resource in messages, such as `EventDataset clicks`. */
  readonly title: string;
  /** Logical name. */
  readonly name: string;
  /** Descriptions of the changes. Empty if the engine forces the replacement. */
  readonly changes: readonly string[];
  /** Current state. Empty if the engine forces the replacement. */
  readonly state: Properties;
  /** Text of all changes, or the cause of a forced replacement. */
  readonly reason: string;
  /** Sentence that explains how to keep the object. */
  readonly prevention: string;
}

/** Arguments whose values are numbers or enums, so messages may show them. */
const plainArguments: readonly string[] = ["numShards", "qps", "projectType", "algorithmType"];

const contentHash = /^sha256:([0-9a-f]{12})[0-9a-f]{52}$/;

/** Descriptions of record sources, by content hash. */
type SourceNames = Pick<ReadonlyMap<string, string>, "get">;

/**
 * Describes the change of an argument, with one text for each changed member of a list. A value that was secret in an
 * earlier run may no longer be marked as secret, so only values that cannot be secret are shown.
 */
export function changeTexts(
  key: string,
  before: unknown,
  after: unknown,
  sources: SourceNames = new Map(),
): string[] {
  if (!Array.isArray(before) || !Array.isArray(after)) return [changeOf(key, key, before, after)];
  const indices = Array.from({ length: Math.max(before.length, after.length) }, (_, index) => index);
  return indices
    .filter((index) => JSON.stringify(before[index]) !== JSON.stringify(after[index]))
    .map((index) => {
      const source = sources.get(after[index]);
      return source && before[index] !== undefined
        ? `a change in ${source}`
        : changeOf(key, `${key}[${index}]`, before[index], after[index]);
    });
}

function changeOf(key: string, place: string, before: unknown, after: unknown): string {
  const [old, now] = [visibleText(key, before), visibleText(key, after)];
  if (old !== undefined && now !== undefined) return `${place} ${old} → ${now}`;
  return `${place} (${before === undefined ? "added" : after === undefined ? "removed" : "changed"})`;
}

/** Returns the text of a value that cannot be secret. Undefined for any other value. */
function visibleText(key: string, value: unknown): string | undefined {
  if (value === unknownValue) return "a value not known yet";
  const hash = typeof value === "string" ? contentHash.exec(value) : null;
  if (hash) return `sha256:${hash[1]}…`;
  const isPlain =
    plainArguments.includes(key) && !isSecret(key) && ["number", "string"].includes(typeof value);
  return isPlain ? String(value) : undefined;
}

/** Shortens the hashes in a text. */
export function shortHashes(text: string): string {
  return text.replace(/\bsha256:([0-9a-f]{12})[0-9a-f]{52}\b/g, "sha256:$1…");
}
