import { readdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Throws if the output file of a command is one of its inputs or a file of the project, even through a link. Any other
 * existing file may be overwritten.
 */
export function assertOutputFile(file: string, inputs: readonly string[]): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  for (const input of inputs) {
    const { dev, ino } = statSync(input, { throwIfNoEntry: false }) ?? {};
    if ((dev === found.dev && ino === found.ino) || isSamePath(file, input))
      throw new Error(
        `${file} is an input of this command or a file of the project, so it is not overwritten. Choose a different file.`,
      );
  }
}

function isSamePath(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

/** Returns the files in a project directory that define the project and its stacks. */
export function projectFiles(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) =>
      /^(Pulumi\.|recommender\.ya?ml$|package.*\.json$)/.test(name),
    );
    return names.map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** Writes a result to a file. */
export function writeOutputFile(file: string, content: Buffer | string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Error(`Cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}
