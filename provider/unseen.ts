import * as pulumi from "@pulumi/pulumi";
import type { Noun } from "./lifecycle";

/** What nouns share that the API cannot read, change or delete: a change makes another one and leaves this behind. */
export function unseen<Args extends object, Key extends keyof Args & string>(
  type: string,
  keys: readonly Key[],
  consequence: string,
): Pick<Noun<Args, object>, "replacing"> & { replaceOn: readonly Key[] } {
  return {
    replaceOn: keys,
    replacing(olds, news, changed) {
      const before = olds as Record<string, unknown>;
      const after = news as Record<string, unknown>;
      const changes = changed.map((key) => `${key} ${shown(before[key])} → ${shown(after[key])}`).join(", ");
      return (
        `Replacing ${type} ${before.name}: ${changes}. The API cannot change it; ` +
        `the old one is left behind, as the API cannot delete it. ${consequence}`
      ).trim();
    },
  };
}

/** A value as people read it in a sentence. */
export function shown(value: unknown): string {
  if (value === pulumi.runtime.unknownValue) return "a value not known yet";
  return value === undefined ? "none" : shortHashes(JSON.stringify(value));
}

/** The same text with hashes cut to what tells one from another. */
export function shortHashes(text: string): string {
  return text.replace(/\bsha256:([0-9a-f]{12})[0-9a-f]{52}\b/g, "sha256:$1…");
}
