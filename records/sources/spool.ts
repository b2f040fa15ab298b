import { randomUUID } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { isRunning } from "../../client/process";
import { createDirectory, stateDirectory } from "../../client/state-directory";

/** Age at which the files of a killed process are deleted. */
const maxAgeMs = 60 * 60 * 1000;

let own: string | undefined;

/**
 * Returns the directory for the copies of remote sources that this process reads. It is deleted when the process exits.
 * It is not in the system's temporary directory, which is often in memory.
 */
export function spoolDirectory(): string {
  if (own) return own;
  const all = stateDirectory("sources");
  createDirectory(all);
  removeAbandoned(all);
  const directory = join(all, `${process.pid}-${randomUUID()}`);
  createDirectory(directory);
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  own = directory;
  return directory;
}

/** Writes a new file in that directory. Deletes it if writing fails. */
export async function spool<T>(
  write: (file: FileHandle) => Promise<T>,
): Promise<{ path: string; result: T }> {
  const path = join(spoolDirectory(), randomUUID());
  const file = await open(path, "wx", 0o600);
  try {
    return { path, result: await write(file) };
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Deletes the copies that killed processes have left. */
function removeAbandoned(all: string): void {
  for (const name of readdirSync(all)) {
    const directory = join(all, name);
    const { mtimeMs = Date.now() } = statSync(directory, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs < maxAgeMs || isRunning(Number.parseInt(name, 10))) continue;
    rmSync(directory, { recursive: true, force: true });
  }
}
