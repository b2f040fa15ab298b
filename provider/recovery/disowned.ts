import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDirectory, digest, stateDirectory } from "../../client/state-directory";
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
    removeOld(directory);
    writeFileSync(fileOf(entry, urn), "", { mode: 0o600 });
  } catch {
    // Without the file, the next create of this resource asks again.
  }
}

/** Whether the user has decided that a journal entry of another stack is not about this resource. */
export function isDisowned(entry: JournalEntry, urn: string): boolean {
  return existsSync(fileOf(entry, urn));
}

function fileOf({ key, at }: JournalEntry, urn: string): string {
  return join(stateDirectory("disowned"), digest([key, at, canonicalUrn(urn)]));
}

/** Removes files that are older than any journal entry. */
function removeOld(directory: string): void {
  for (const name of readdirSync(directory)) {
    const writtenAt = statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - writtenAt > retentionMs) rmSync(join(directory, name), { force: true });
  }
}
