import { createHash } from "node:crypto";
import { limits } from "../contract";
import type { Row } from "./formats/row";
import type { RecordKind } from "./kind";
import { InvalidRecord, type Mapping, mapper } from "./mapping/mapping";
import type { Reject } from "./rejects";
import { readRows, type SourceFile } from "./source";

/** Bytes of a batch at most, so that memory is bounded whatever the records are; a larger record goes alone. */
const batchBytes = 4 * 1024 * 1024;

/** A record of a batch: where it comes from, and its id. */
export interface Entry {
  readonly source: string;
  readonly line: number;
  readonly id: string;
}

/** Records that go in one call. */
export interface Batch {
  /** Its place in the source. */
  readonly index: number;
  readonly entries: readonly Entry[];
  readonly ids: ReadonlySet<string>;
  /** The body of the call; the records are kept in it alone, outside the heap, so that memory stays small. */
  readonly body: Buffer;
  /** A name for its content. */
  readonly hash: string;
}

/** What batches are cut from. */
export interface BatchSource {
  readonly files: readonly SourceFile[];
  readonly kind: RecordKind;
  readonly mapping: Mapping;
  readonly datasetId: string;
  /** Takes a record that is not fit to be sent, and says whether to read on. */
  readonly reject: (reject: Reject) => boolean;
  readonly onBytes: (count: number) => void;
}

/** Cuts a source into batches by count and bytes; the same content is always cut the same way. */
export async function* batchesOf(source: BatchSource): AsyncIterable<Batch> {
  const { before, after } = source.kind.envelope(source.datasetId);
  let index = 0;
  let entries: Entry[] = [];
  let texts: string[] = [];
  let bytes = 0;
  const cut = (): Batch => {
    const body = Buffer.from(before + texts.join(",") + after);
    const hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
    const batch = { index: index++, entries, ids: new Set(entries.map(({ id }) => id)), body, hash };
    entries = [];
    texts = [];
    bytes = 0;
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
        if (entries.length === limits.recordsPerUpsert || (entries.length > 0 && bytes + size > batchBytes))
          yield cut();
        entries.push({ source: file.displayName, line: row.line, id: read.id });
        texts.push(read.text);
        bytes += size;
      }
    }
  }
  if (entries.length > 0) yield cut();
}

type Read = { readonly id: string; readonly text: string } | Pick<Reject, "reason" | "record">;

/** Converts rows to the text of records on the wire. */
function textReader({ kind, mapping }: BatchSource, file: SourceFile): (row: Row) => Read {
  const record = mapper(kind, mapping, file.format);
  return ({ columns, fault = "", text: given }) => {
    if (!columns) return { reason: fault, record: given ?? "" };
    try {
      const wire = record(columns);
      // Writing a record costs as much as reading it; one that comes as it is to go needs no writing.
      const text = given !== undefined && isSame(wire, columns) ? given : JSON.stringify(wire);
      assertSize(text, kind);
      return { id: wire[kind.idKey] as string, text };
    } catch (error) {
      // What is nested beyond any sense overflows the stack of whoever writes it.
      if (error instanceof RangeError && given !== undefined)
        return { reason: "it is nested too deeply", record: given };
      if (!(error instanceof InvalidRecord)) throw error;
      return { reason: error.message, record: given ?? shownColumns(columns) };
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

function assertSize(text: string, { type, mostBytes: most }: RecordKind): void {
  // A character takes at most three bytes per unit of its length.
  if (text.length * 3 <= most) return;
  const bytes = Buffer.byteLength(JSON.stringify(JSON.parse(text)));
  if (bytes <= most) return;
  throw new InvalidRecord(
    `the ${type} takes ${bytes} bytes, and ${most} is the most; shorten its attributes`,
  );
}

/** Parquet holds numbers that JSON cannot. */
function shownColumns(columns: object): string {
  return JSON.stringify(columns, (_, value) => (typeof value === "bigint" ? String(value) : value));
}
