import { randomUUID } from "node:crypto";
import { linkSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createDirectory, readIfPossible, stateDirectory } from "../../client/state-directory";

/**
 * Returns the id of this machine's recovery journal, which is chosen on first use. Undefined if it cannot be stored.
 * With this id, the state of a stack shows whether a create was killed on this machine, whose journal then has the
 * details.
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
    // Unlike a rename, a link does not replace the id that another process has just chosen.
    linkSync(draft, file);
  } catch {
    // The file exists, or the directory cannot be written.
  }
  rmSync(draft, { force: true });
  return read();
}
