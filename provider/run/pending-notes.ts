import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../client/parse";
import { digest, readIfPossible, replaceFile, stateDirectory } from "../../client/state-directory";

/**
 * Resource that notes are about. `stack` is the lineage of its stack, or the stack's name if the lineage is unknown.
 */
export interface NoteOwner {
  readonly stack: string;
  /** URN without the stack. */
  readonly resource: string;
}

/**
 * This machine's notes about killed runs: content hashes of killed uploads that are still `pending`, or digests of
 * killed creates that are `settled`. They complement the engine's notes in the state. The engine drops its note of a
 * killed update with the first write of the next run, even if that run fails before it reaches the resource. It keeps
 * its note of a killed create until a refresh, even if a later run has created the resource.
 */
export class PendingNotes {
  readonly #path: string;

  constructor({ stack, resource }: NoteOwner, kind: "pending" | "settled" = "pending") {
    this.#path = join(stateDirectory("uploads"), `${digest([stack, resource])}.${kind}`);
  }

  /** Content hashes or digests. A hash is empty if it is unknown. */
  get hashes(): readonly string[] {
    const text = readIfPossible(this.#path);
    if (text === undefined) return [];
    const found = parseJson(text);
    const isList = Array.isArray(found) && found.every((hash) => typeof hash === "string");
    // A damaged file still shows that an upload was killed.
    return isList ? found : [""];
  }

  /** Adds the hashes that are not noted yet. Throws if the file cannot be written. */
  add(hashes: readonly string[]): void {
    const noted = this.hashes;
    const added = without(hashes, noted);
    if (added.length > 0) replaceFile(this.#path, JSON.stringify([...noted, ...added]));
  }

  /** Deletes the notes. Call this when a later upload replaces the records of the killed uploads. */
  delete(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // If the note stays, the next run uploads the records once more.
    }
  }
}

/** Returns the items that are not in `others`. Each item in `others` removes only one equal item. */
export function without(items: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return items.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
