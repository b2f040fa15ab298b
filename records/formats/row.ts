/** Row of a source: its columns, or the reason it cannot be read. */
export interface Row {
  /** Line on which the row begins, counted from 1. In Parquet, the number of the row. */
  readonly line: number;
  readonly columns?: Readonly<Record<string, unknown>>;
  /** Reason why the row cannot be read. Reading continues with the next row. */
  readonly fault?: string;
  /** Text of the row, if it is JSON or cannot be read. */
  readonly text?: string;
}

/** Rows of a source, in chunks. */
export type Rows = AsyncIterable<readonly Row[]>;

/** Error that stops reading a file. The message contains the file and the line. */
export class SourceError extends Error {
  override readonly name = "SourceError";

  constructor(file: string, problem: string, line?: number) {
    super(`${file}${line === undefined ? "" : `:${line}`}: ${problem}`);
  }
}

/** Creates a row from a JSON value. A value that is not an object gives a row with a fault. */
export function rowOf(value: unknown, line: number, text: string): Row {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { line, columns: value as Record<string, unknown>, text };
  }
  const received = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  return { line, fault: `expected an object, received ${received}`, text };
}

/** Creates a row from JSON text. Shortens the error message of JSON.parse, which contains text that may be secret. */
export function jsonRow(text: string, line: number): Row {
  try {
    return rowOf(JSON.parse(text), line, text);
  } catch (error) {
    const [, problem] = /^(.*?)(, (\.\.\.)?".*)?$/s.exec((error as Error).message) ?? [];
    return { line, fault: `not JSON: ${problem}`, text };
  }
}
