import { createHash } from "node:crypto";

const prefix = "inline:";

/** What programs of this run hold, by what stands for it. */
const held = new Map<string, Buffer>();

/** Whether a source stands for records that the program itself holds. */
export function isInline(source: string): boolean {
  return source.startsWith(prefix);
}

/** The text under which an array is uploaded. */
export function inlineText(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

/** Holds records for their upload by this process, and gives what stands for them in the state. */
export function holdInline(text: Buffer, format = "ndjson"): string {
  const name = createHash("sha256").update(text).digest("hex");
  const source = prefix + name + (format === "ndjson" ? "" : `.${format}`);
  held.set(source, text);
  return source;
}

/** The form of an inline source: its name ends in it, unless it is NDJSON. */
export function inlineFormat(source: string): string {
  return /\.(\w+)$/.exec(source)?.[1] ?? "ndjson";
}

/** The records that an inline source stands for. */
export function readInline(source: string): Buffer {
  const text = held.get(source);
  if (text) return text;
  throw new Error("the records of the program are gone: it has ended. Run `pulumi up` again");
}
