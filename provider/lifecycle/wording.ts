import { truncate } from "../../contract/messages";
import { isSecret } from "../run/secrecy";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";

/** What is to be replaced and why, as far as a message may say it. */
export interface Replacement {
  readonly id: string;
  /** The resource as people know it: `EventDataset clicks`. */
  readonly title: string;
  /** Its logical name. */
  readonly name: string;
  /** What changes; nothing if the engine forces the replacement. */
  readonly changes: readonly string[];
  /** What the state holds of it; nothing if the engine forces the replacement. */
  readonly state: Properties;
  /** The changes, or what forces the replacement, after a colon. */
  readonly reason: string;
}

/** Describes a replacement and its reason. */
export function replacementOf(of: Omit<Replacement, "reason">): Replacement {
  const forced = "--replace, replaceOnChanges, replacementTrigger or replaceWith asks for it";
  return { ...of, reason: of.changes.join(", ") || forced };
}

/** Reports that an object makes way for one that exists already. */
export function adoptionText(id: string, existingId: unknown): string {
  const next = truncate(String(existingId));
  return `${truncate(id)} is replaced by ${next}, which exists already, and is then deleted or orphaned.`;
}

/** Reports that an object may make way for one whose id a preview does not know. */
export function unknownAdoptionText(id: string): string {
  return `existingId is not known yet: if it is not ${truncate(id)}, that is replaced and then deleted or orphaned.`;
}

/** Reports that a replaced object cannot be deleted. */
export function deletionFaultText(id: string, fault: string): string {
  return `${truncate(id)} cannot be deleted after its replacement, unless retainOnDelete keeps it: ${fault}`;
}

/** Arguments whose values are numbers and words of the API itself. */
const plainArguments: readonly string[] = ["numShards", "qps", "projectType", "algorithmType"];

const contentHash = /^sha256:([0-9a-f]{12})[0-9a-f]{52}$/;

/** The source that has a content hash, in words; undefined for any other text. */
type SourceNames = Pick<ReadonlyMap<string, string>, "get">;

/**
 * What changes in an argument, in words; one text for each member of a list that changes.
 * Only what a program says is secret is masked (`run/secrecy.ts`), and what was secret once may not be so any more. So a
 * message shows a value only where it cannot be one, and otherwise names the argument alone: every former value of an argument goes through here.
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

/** A value that cannot be secret; undefined for any other. */
function visibleText(key: string, value: unknown): string | undefined {
  if (value === unknownValue) return "a value not known yet";
  const hash = typeof value === "string" ? contentHash.exec(value) : null;
  if (hash) return `sha256:${hash[1]}…`;
  const isPlain =
    plainArguments.includes(key) && !isSecret(key) && ["number", "string"].includes(typeof value);
  return isPlain ? String(value) : undefined;
}

/** The same text with hashes cut to a prefix that still distinguishes them. */
export function shortHashes(text: string): string {
  return text.replace(/\bsha256:([0-9a-f]{12})[0-9a-f]{52}\b/g, "sha256:$1…");
}
