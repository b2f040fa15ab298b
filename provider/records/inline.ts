import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stateFolder } from "../state-folder";

const prefix = "inline:";
const forgottenAfterMs = 24 * 60 * 60 * 1000;
const laidDown = new Set<string>();

/** Whether a source stands for an array that the program holds. */
export function isInline(source: string): boolean {
  return source.startsWith(prefix);
}

/** Where the content of an inline source lies while the program runs. */
export function inlineFile(source: string): string {
  return join(stateFolder("inline"), `${source.slice(prefix.length)}.ndjson`);
}

/** The text under which an array is uploaded. */
export function inlineText(rows: readonly unknown[]): Buffer {
  return Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

/** What stands for an array in the state; programs of different stacks do not share it. */
export function inlineSource(owner: string, text: Buffer): string {
  return prefix + createHash("sha256").update(JSON.stringify(owner)).update(text).digest("hex");
}

/**
 * Lays the content of an inline source down where the provider's process can read it.
 * The file goes when the program ends, by which time everything is uploaded.
 */
export function layDown(source: string, text: Buffer): void {
  const path = inlineFile(source);
  removeForgotten();
  writeFileSync(path, text, { mode: 0o600 });
  if (laidDown.size === 0) process.once("exit", removeLaidDown);
  laidDown.add(path);
}

function removeLaidDown(): void {
  for (const path of laidDown) rmSync(path, { force: true });
}

/** A program that was killed could not take its files along. */
function removeForgotten(): void {
  const folder = stateFolder("inline");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > forgottenAfterMs) rmSync(path, { force: true });
  }
}
