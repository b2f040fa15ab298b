import { createHash } from "node:crypto";

const prefix = "inline:";

/** Inline records of this process, by their source name. */
const stored = new Map<string, Buffer>();

/** Whether a source is the name of inline records. */
export function isInline(source: string): boolean {
  return source.startsWith(prefix);
}

/** Converts an array of records to NDJSON. */
export function inlineText(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

/**
 * Stores inline records until this process uploads them.
 * @returns the source name, for the state
 */
export function storeInline(text: Buffer, format = "ndjson"): string {
  const name = createHash("sha256").update(text).digest("hex");
  const source = prefix + name + (format === "ndjson" ? "" : `.${format}`);
  stored.set(source, text);
  return source;
}

/** Returns the format of an inline source, which is the extension of its name. Default: NDJSON. */
export function inlineFormat(source: string): string {
  return /\.(\w+)$/.exec(source)?.[1] ?? "ndjson";
}

/** Returns the records of an inline source. */
export function readInline(source: string): Buffer {
  const text = stored.get(source);
  if (text) return text;
  throw new Error(
    "the inline records are not available, because the program has ended. Run `pulumi up` again",
  );
}
