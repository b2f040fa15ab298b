import type { Noun } from "./noun";

/** What nouns share that the API cannot read, change or delete: a change creates another one and orphans this one. */
export function writeOnce<Key extends string>(
  keys: readonly Key[],
  consequence: string,
): Pick<Noun<object, object>, "replacing"> & { replaceOn: readonly Key[] } {
  return {
    replaceOn: keys,
    replacing: ({ title, changes }) =>
      `Replacing ${title}: ${changes.join(", ")}. The API cannot change it; the old one is orphaned, as the API ` +
      `cannot delete it. ${consequence}`,
  };
}
