import { readFileSync } from "node:fs";

/** Reads the ids in a file, one per line. Spaces are part of an id, but a byte order mark is not. */
export function readIdFile(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .replace(/^\uFEFF/, "")
      .split(/\r?\n/)
      .filter(Boolean);
  } catch (error) {
    throw new Error(`Cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}
