import { closeSync, openSync } from "node:fs";
import type { ParquetWriter } from "hyparquet-writer" with { "resolution-mode": "import" };

/** Column types of the files for trainers. */
const elements = {
  integer: { type: "INT32" },
  float: { type: "FLOAT" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
} as const;

/** Names and types of columns; `?` if a value may be null. */
export type Columns = Readonly<Record<string, keyof typeof elements | "text?">>;

/** Maximum size of a row group, the part of a table that is in memory at a time. */
const groupRows = 65_536;
const groupCharacters = 8 * 1024 * 1024;

/** Writes a Parquet file row by row, with one row group in memory. */
export class ParquetTable {
  rows = 0;
  private characters = 0;
  private group: unknown[][];

  private constructor(
    private readonly names: readonly string[],
    private readonly writer: ParquetWriter,
  ) {
    this.group = names.map(() => []);
  }

  static async create(file: string, columns: Columns): Promise<ParquetTable> {
    // The package is an ES module, so it cannot be required. Loaded on demand, because only trainer commands need it.
    const { fileWriter, ParquetWriter } = await import("hyparquet-writer");
    const names = Object.keys(columns);
    const schema = Object.entries(columns).map(([name, kind]) => ({
      name,
      ...(kind === "text?" ? elements.text : elements[kind]),
      repetition_type: kind === "text?" ? ("OPTIONAL" as const) : ("REQUIRED" as const),
    }));
    // Otherwise the writer creates a file that every user of the machine can read.
    closeSync(openSync(file, "w", 0o600));
    const root = { name: "root", num_children: names.length };
    return new ParquetTable(
      names,
      new ParquetWriter({ writer: fileWriter(file), schema: [root, ...schema] }),
    );
  }

  /** Adds a row: a value for each column, in their order. */
  add(...values: (number | string | null)[]): void {
    values.forEach((value, column) => {
      (this.group[column] as unknown[]).push(value);
      if (typeof value === "string") this.characters += value.length;
    });
    this.rows++;
    if ((this.group[0] as unknown[]).length >= groupRows || this.characters >= groupCharacters) this.flush();
  }

  /** Writes the last row group and the footer. */
  finish(): void {
    this.flush();
    void this.writer.finish();
  }

  private flush(): void {
    const columnData = this.names.map((name, column) => ({ name, data: this.group[column] as unknown[] }));
    // The writer is synchronous for files. It returns a promise only for asynchronous targets.
    void this.writer.write({ columnData, rowGroupSize: groupRows });
    this.group = this.names.map(() => []);
    this.characters = 0;
  }
}
