import { createHash } from "node:crypto";
import { limits } from "../contract";
import type { Row } from "./formats/row";
import type { RecordKind } from "./kind";
import { InvalidRecord, type Mapping, mapper } from "./mapping/mapping";
import type { Reject } from "./rejects";
import { readRows, type SourceFile } from "./source";

/** Maximum size of a batch, to bound memory. A larger record is sent in its own batch. */
const batchBytes = 4 * 1024 * 1024;

/** Record of a batch: its id, and the source and line that it comes from. */
export interface Entry {
  readonly source: string;
  readonly line: number;
  readonly id: string;
}

/** Records that are sent in one call. */
export interface Batch {
  /** Position of the batch in the source. */
  readonly index: number;
  readonly entries: readonly Entry[];
  readonly ids: ReadonlySet<string>;
  /** Body of the call. The records are stored only here, outside the heap, to save memory. */
  readonly body: Buffer;
  /** Hash of the content. */
  readonly hash: string;
}

/** Source of batches. */
export interface BatchSource {
  readonly files: readonly SourceFile[];
  readonly kind: RecordKind;
  readonly mapping: Mapping;
  readonly datasetId: string;
  /** Called with each invalid record. Returns whether to continue reading. */
  readonly reject: (reject: Reject) => boolean;
  readonly onBytes: (count: number) => void;
}

/** Splits a source into batches by count and size. The same content always gives the same batches. */
export async function* batchesOf(source: BatchSource): AsyncIterable<Batch> {
  const body = new BodyWriter(source.kind.envelope(source.datasetId));
  let index = 0;
  let entries: Entry[] = [];
  const takeBatch = (): Batch => {
    const bytes = body.take();
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
    const batch = { index: index++, entries, ids: new Set(entries.map(({ id }) => id)), body: bytes, hash };
    entries = [];
    return batch;
  };
  for (const file of source.files) {
    const textOf = textReader(source, file);
    for await (const rows of readRows(file, source.onBytes)) {
      for (const row of rows) {
        const read = textOf(row);
        if ("reason" in read) {
          if (!source.reject({ source: file.displayName, line: row.line, ...read })) return;
          continue;
        }
        const size = Buffer.byteLength(read.text);
        const isFull = entries.length === limits.recordsPerUpsert || body.textBytes + size > batchBytes;
        if (entries.length > 0 && isFull) yield takeBatch();
        entries.push({ source: file.displayName, line: row.line, id: read.id });
        body.add(read.text, size);
      }
    }
  }
  if (entries.length > 0) yield takeBatch();
}

/**
 * Writes the body of a batch record by record, in memory that all batches share. Texts that waited for the rest of
 * their batch would outlive several garbage collections, and the heap would grow.
 */
class BodyWriter {
  #memory = Buffer.alloc(0);
  #end = 0;
  /** Bytes of the records, without separators. */
  textBytes = 0;

  constructor(private readonly envelope: { readonly before: string; readonly after: string }) {}

  /** Adds the text of a record, which has `size` bytes. */
  add(text: string, size: number): void {
    this.#write(this.#end === 0 ? this.envelope.before : ",");
    this.#write(text, size);
    this.textBytes += size;
  }

  /** Returns a copy of the body and begins the next one. */
  take(): Buffer {
    this.#write(this.envelope.after);
    const body = Buffer.from(this.#memory.subarray(0, this.#end));
    this.#end = 0;
    this.textBytes = 0;
    return body;
  }

  #write(text: string, size = Buffer.byteLength(text)): void {
    const end = this.#end + size;
    if (end > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#end);
      this.#memory = larger;
    }
    this.#memory.write(text, this.#end);
    this.#end = end;
  }
}

type ReadRecord = { readonly id: string; readonly text: string } | Pick<Reject, "reason" | "record">;

/** Returns a function that converts rows to the JSON text of records. */
function textReader({ kind, mapping }: BatchSource, file: SourceFile): (row: Row) => ReadRecord {
  const record = mapper(kind, mapping, file.format);
  return ({ columns, fault = "", text: given }) => {
    if (!columns) return { reason: fault, record: given ?? "" };
    try {
      const wire = record(columns);
      // Serializing costs as much as parsing, so an unchanged record is sent as its original text.
      const text = given !== undefined && isSame(wire, columns) ? given : JSON.stringify(wire);
      assertSize(text, kind);
      return { id: wire[kind.idKey] as string, text };
    } catch (error) {
      // Extreme nesting overflows the call stack in JSON.stringify.
      if (error instanceof RangeError && given !== undefined)
        return { reason: "it is nested too deeply", record: given };
      if (!(error instanceof InvalidRecord)) throw error;
      return { reason: error.message, record: given ?? columnsText(columns) };
    }
  };
}

function isSame(
  wire: Readonly<Record<string, unknown>>,
  columns: Readonly<Record<string, unknown>>,
): boolean {
  let fields = 0;
  for (const key in wire) {
    if (wire[key] !== columns[key]) return false;
    fields++;
  }
  for (const _ in columns) fields--;
  return fields === 0;
}

function assertSize(text: string, { type, maxBytes }: RecordKind): void {
  // UTF-8 needs at most three bytes per UTF-16 code unit.
  if (text.length * 3 <= maxBytes) return;
  const bytes = Buffer.byteLength(JSON.stringify(JSON.parse(text)));
  if (bytes <= maxBytes) return;
  throw new InvalidRecord(
    `the ${type} has ${bytes} bytes, but the limit is ${maxBytes}; shorten its attributes`,
  );
}

/** Converts columns to JSON. Integers from Parquet that JSON cannot represent become text. */
function columnsText(columns: object): string {
  return JSON.stringify(columns, (_, value) => (typeof value === "bigint" ? String(value) : value));
}
