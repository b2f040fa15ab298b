import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../client/parse";
import { digest, readIfPossible, replaceFile, stateDirectory } from "../../client/state-directory";

/** Resource of a stack. The stack is given by its lineage, or by its name if it has none. */
export interface NoteOwner {
  readonly stack: string;
  /** URN without the stack. */
  readonly resource: string;
}

/**
 * What this machine remembers of the engine's notes in a stack's state: content hashes of killed uploads that are still
 * `pending`, or digests of killed creates that are `settled`. The engine drops its note of a killed update with the first
 * write of the next run, even if that run fails before it reaches the resource. It keeps its note of a killed create until a
 * refresh, even if a later run has created the resource.
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

  /** Deletes the notes, after a later upload has replaced the records of the killed ones. */
  delete(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // If the note stays, the next run uploads the records once more.
    }
  }
}

/** Returns the items of a list that are not in the other list. Equal items are counted. */
export function without(items: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return items.filter((item) => {
    const at = left.indexOf(item);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
