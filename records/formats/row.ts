/** A row of a source: its columns, or what is wrong with it. */
export interface Row {
  /** Line on which it begins, from 1; in Parquet its number. */
  readonly line: number;
  readonly columns?: Readonly<Record<string, unknown>>;
  /** Why it cannot be read; rows after it can. */
  readonly fault?: string;
  /** Its text, where it has one of its own as JSON or cannot be read. */
  readonly text?: string;
}

/** The rows of a source, a piece at a time. */
export type Rows = AsyncIterable<readonly Row[]>;

/** A file of records cannot be read on: the message says which file and where. */
export class SourceError extends Error {
  override readonly name = "SourceError";

  constructor(file: string, line: number | undefined, problem: string) {
    super(`${file}${line === undefined ? "" : `:${line}`}: ${problem}`);
  }
}

/** A row of columns if the value is an object, and a fault if not. */
export function rowOf(value: unknown, line: number, text: string): Row {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { line, columns: value as Record<string, unknown>, text };
  }
  const received = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return { line, fault: `expected an object, received ${received}`, text };
}

/** A row of a text that should be JSON. What JSON.parse says of it would show a piece of it, which may be secret. */
export function jsonRow(text: string, line: number): Row {
  try {
    return rowOf(JSON.parse(text), line, text);
  } catch (error) {
    const [, problem] = /^(.*?)(, (\.\.\.)?".*)?$/s.exec((error as Error).message) ?? [];
    return { line, fault: `not JSON: ${problem}`, text };
  }
}
