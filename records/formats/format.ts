import { csvRows } from "./csv";
import { jsonRows } from "./json";
import { ndjsonRows } from "./ndjson";
import { parquetRows } from "./parquet";
import type { Rows } from "./row";
import type { Readable } from "./text";

/** The forms that files of records have. */
export const formats = ["ndjson", "json", "csv", "parquet"] as const;

/** The form of a file of records. */
export type Format = (typeof formats)[number];

/** Which form a file has, by the end of its name. */
export const extensions: Readonly<Record<string, Format>> = {
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".json": "json",
  ".csv": "csv",
  ".tsv": "csv",
  ".parquet": "parquet",
};

/** What reads a file of each form. */
export const readers: Readonly<Record<Format, (file: Readable, onBytes: (count: number) => void) => Rows>> = {
  ndjson: ndjsonRows,
  json: jsonRows,
  csv: csvRows,
  parquet: parquetRows,
};
