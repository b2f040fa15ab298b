import { closeSync, openSync } from "node:fs";
import type { ByteWriter, ParquetWriter } from "hyparquet-writer" with { "resolution-mode": "import" };

/** Column types of the files. */
const elements = {
  integer: { type: "INT32" },
  float: { type: "FLOAT" },
  double: { type: "DOUBLE" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
} as const;

/** Names and types of columns; `?` if a value may be null. */
export type Columns = Readonly<Record<string, keyof typeof elements | "text?">>;

/** Maximum size of a row group, the part of a table that is in memory at a time. */
const groupRows = 65_536;
const groupCharacters = 8 * 1024 * 1024;

function schemaOf(columns: Columns) {
  const names = Object.keys(columns);
  const fields = Object.entries(columns).map(([name, kind]) => ({
    name,
    ...(kind === "text?" ? elements.text : elements[kind]),
    repetition_type: kind === "text?" ? ("OPTIONAL" as const) : ("REQUIRED" as const),
  }));
  return [{ name: "root", num_children: names.length }, ...fields];
}

/** Writes a Parquet file row by row, with one row group in memory. */
export class ParquetTable {
  rows = 0;
  private characters = 0;
  private group: unknown[][];

  private constructor(
    private readonly names: readonly string[],
    private readonly writer: ParquetWriter,
    /** Bytes written since the last call of `take`, if the table is not written to a file. */
    private readonly memory?: ByteWriter,
  ) {
    this.group = names.map(() => []);
  }

  /** Creates a table that is written to a file. */
  static async create(file: string, columns: Columns): Promise<ParquetTable> {
    // The package is an ES module, so it cannot be required. Loaded on demand, because few jobs need it.
    const { fileWriter, ParquetWriter } = await import("hyparquet-writer");
    // Otherwise the writer creates a file that every user of the machine can read.
    closeSync(openSync(file, "w", 0o600));
    const schema = schemaOf(columns);
    return new ParquetTable(Object.keys(columns), new ParquetWriter({ writer: fileWriter(file), schema }));
  }

  /** Creates a table whose bytes the caller takes with `take`. */
  static async inMemory(columns: Columns): Promise<ParquetTable> {
    const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
    const writer = new ByteWriter();
    const table = new ParquetWriter({ writer, schema: schemaOf(columns) });
    return new ParquetTable(Object.keys(columns), table, writer);
  }

  /** Returns the bytes that were written since the last call. */
  take(): Uint8Array {
    if (!this.memory) return new Uint8Array(0);
    const bytes = this.memory.getBytes().slice();
    this.memory.index = 0;
    return bytes;
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
