import { closeSync, openSync } from "node:fs";
import type { ParquetWriter } from "hyparquet-writer" with { "resolution-mode": "import" };

/** The types of columns that trainers get. */
const elements = {
  integer: { type: "INT32" },
  float: { type: "FLOAT" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
} as const;

/** The name and type of a column; `?` where a value may be missing. */
export type Columns = Readonly<Record<string, keyof typeof elements | "text?">>;

/** A row group has at most so many rows, and ends after so many characters: that much of a table is in memory. */
const groupRows = 65_536;
const groupCharacters = 8 * 1024 * 1024;

/** A Parquet file that is written row by row, and kept in memory no more than a row group. */
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
    // An ES module, which CommonJS can only import; and only who exports pays for it.
    const { fileWriter, ParquetWriter } = await import("hyparquet-writer");
    const names = Object.keys(columns);
    const schema = Object.entries(columns).map(([name, kind]) => ({
      name,
      ...(kind === "text?" ? elements.text : elements[kind]),
      repetition_type: kind === "text?" ? ("OPTIONAL" as const) : ("REQUIRED" as const),
    }));
    // The writer would create a file that everybody may read.
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

  /** Writes the rest and what makes the file readable. */
  finish(): void {
    this.flush();
    void this.writer.finish();
  }

  private flush(): void {
    const columnData = this.names.map((name, column) => ({ name, data: this.group[column] as unknown[] }));
    // To a file it writes at once; where it had to wait it would give a promise.
    void this.writer.write({ columnData, rowGroupSize: groupRows });
    this.group = this.names.map(() => []);
    this.characters = 0;
  }
}
