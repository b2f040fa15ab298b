import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder, stateFolder } from "../client/state-folder";

const prefix = "inline:";
const forgottenAfterMs = 24 * 60 * 60 * 1000;
const written = new Set<string>();

/** Whether a source stands for records that the program itself holds. */
export function isInline(source: string): boolean {
  return source.startsWith(prefix);
}

/** The text under which an array is uploaded. */
export function inlineText(rows: readonly unknown[]): Buffer {
  return Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

/** What stands for records in the state; programs of different stacks do not share it. */
export function inlineSource(owner: string, text: Buffer, format = "ndjson"): string {
  const name = createHash("sha256").update(JSON.stringify(owner)).update(text).digest("hex");
  return prefix + name + (format === "ndjson" ? "" : `.${format}`);
}

/** The form of an inline source: its name ends in it, unless it is NDJSON. */
export function inlineFormat(source: string): string {
  return /\.(\w+)$/.exec(source)?.[1] ?? "ndjson";
}

/**
 * Writes an inline source where the provider's process can read it.
 * The file is of this process alone: another run of the same program has one of its own, and neither removes that of
 * the other. It goes when the program ends, by which time everything is uploaded.
 */
export function writeInline(source: string, text: Buffer): void {
  const problems: string[] = [];
  for (const folder of folders()) {
    try {
      removeForgotten(folder);
      const path = join(folder, `${nameOf(source)}.${randomUUID()}`);
      writeFileSync(path, text, { mode: 0o600, flag: "wx" });
      if (written.size === 0) process.once("exit", removeWritten);
      written.add(path);
      return;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  throw new Error(
    `the records of the program cannot be handed to the provider (${problems.join("; ")}); ` +
      "set XDG_STATE_HOME to a folder that can be written to",
  );
}

/** What a program that runs now has written as an inline source. */
export function readInline(source: string): Buffer {
  for (const folder of folders()) {
    for (const name of namesIn(folder)) {
      if (!name.startsWith(`${nameOf(source)}.`)) continue;
      try {
        return readFileSync(join(folder, name));
      } catch {
        // Another run of the same program has ended in between; this one's file is among the others.
      }
    }
  }
  throw new Error("the records of the program are gone: it has ended. Run `pulumi up` again");
}

/** Where inline sources lie; in the second one where the first cannot be written to. */
function folders(): string[] {
  const temporary = `pulumi-recommender-${process.getuid?.() ?? "inline"}`;
  return [stateFolder("inline"), join(tmpdir(), temporary)];
}

function nameOf(source: string): string {
  return source.slice(prefix.length);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function removeWritten(): void {
  for (const path of written) rmSync(path, { force: true });
}

/** A program that was killed could not remove its files. */
function removeForgotten(folder: string): void {
  makeFolder(folder);
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > forgottenAfterMs) rmSync(path, { force: true });
  }
}
