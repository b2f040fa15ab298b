import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDirectory, stateDirectory } from "../../client/state-directory";
import { canonicalUrn } from "../run/urn";
import { digest, type JournalEntry, retentionMs } from "./journal";

/**
 * Notes that a journal entry of another stack is not about this resource, because the user has decided so. The entry stays
 * in the journal for the stack that wrote it, and this resource no longer asks about it.
 */
export function disown(entry: JournalEntry, urn: string): void {
  try {
    const folder = stateDirectory("disowned");
    createDirectory(folder);
    removeOld(folder);
    writeFileSync(fileOf(entry, urn), "", { mode: 0o600 });
  } catch {
    // Without the note, the next create of this resource asks the same question again.
  }
}

/** Whether the user has decided that a journal entry of another stack is not about this resource. */
export function isDisowned(entry: JournalEntry, urn: string): boolean {
  return existsSync(fileOf(entry, urn));
}

function fileOf({ key, at }: JournalEntry, urn: string): string {
  return join(stateDirectory("disowned"), digest([key, at, canonicalUrn(urn)]));
}

/** A note is needed only as long as the journal keeps its entry. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const writtenAt = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - writtenAt > retentionMs) rmSync(join(folder, name), { force: true });
  }
}
