import { randomUUID } from "node:crypto";
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createDirectory, readIfPossible, stateDirectory } from "../../client/state-directory";

/**
 * Returns the id of the recovery journal on this machine, and chooses it on first use. Undefined if it cannot be stored. The
 * state of a stack shows with it whether a create was killed on this machine, whose journal then knows more about it.
 */
export function journalId(): string | undefined {
  const file = stateDirectory("journal-id");
  const read = () => readIfPossible(file)?.trim() || undefined;
  const found = read();
  if (found) return found;
  const draft = `${file}.${process.pid}`;
  try {
    createDirectory(dirname(file));
    writeFileSync(draft, randomUUID().slice(0, 8), { mode: 0o600 });
    // Unlike a rename, this keeps the id that another process has just chosen.
    linkSync(draft, file);
  } catch {
    // The file exists, or the directory cannot be written.
  }
  rmSync(draft, { force: true });
  return read();
}
