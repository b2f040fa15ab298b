import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDirectory, digest, removeOldFiles, stateDirectory } from "../../client/state-directory";
import { canonicalUrn } from "../run/urn";
import { type JournalEntry, retentionMs } from "./journal";

/**
 * Records the user's decision that a journal entry of another stack is not about this resource. The entry stays in the
 * journal for the other stack.
 */
export function disown(entry: JournalEntry, urn: string): void {
  try {
    const directory = stateDirectory("disowned");
    createDirectory(directory);
    removeOldFiles(directory, retentionMs);
    writeFileSync(fileOf(entry, urn), "", { mode: 0o600 });
  } catch {
    // Without the file, the next create of this resource asks the user again.
  }
}

/** Whether the user has decided that a journal entry of another stack is not about this resource. */
export function isDisowned(entry: JournalEntry, urn: string): boolean {
  return existsSync(fileOf(entry, urn));
}

function fileOf({ key, at }: JournalEntry, urn: string): string {
  return join(stateDirectory("disowned"), digest([key, at, canonicalUrn(urn)]));
}
