import { csvRows } from "./csv";
import { jsonRows } from "./json";
import { ndjsonRows } from "./ndjson";
import { parquetRows } from "./parquet";
import type { Rows } from "./row";
import type { Readable } from "./text";

/** Formats of record files. */
export const formats = ["ndjson", "json", "csv", "parquet"] as const;

/** Format of a record file. */
export type Format = (typeof formats)[number];

/** Format by file extension. */
export const extensions: Readonly<Record<string, Format>> = {
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".json": "json",
  ".csv": "csv",
  ".tsv": "csv",
  ".parquet": "parquet",
};

/** Reader of each format. */
export const readers: Readonly<Record<Format, (file: Readable, onBytes: (count: number) => void) => Rows>> = {
  ndjson: ndjsonRows,
  json: jsonRows,
  csv: csvRows,
  parquet: parquetRows,
};
