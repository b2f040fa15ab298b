import { createHash } from "node:crypto";
import { limits } from "../../contract";
import type { RecordKind } from "./kind";
import { InvalidRecord, type Mapping, mapper } from "./mapping";
import type { Reject } from "./rejects";
import type { Row } from "./row";
import { readRows, type SourceFile } from "./source";

/** Bytes of a batch at most, so that memory is bounded whatever the records are; a larger record goes alone. */
const batchBytes = 4 * 1024 * 1024;

/** A record of a batch: where it comes from, and its text on the wire. */
export interface Entry {
  readonly source: string;
  readonly line: number;
  readonly id: string;
  readonly text: string;
}

/** Records that go in one call. */
export interface Batch {
  /** Its place in the source. */
  readonly index: number;
  readonly entries: readonly Entry[];
  readonly ids: ReadonlySet<string>;
  readonly body: string;
  /** A name for its content. */
  readonly hash: string;
}

/** What batches are cut from. */
export interface BatchSource {
  readonly files: readonly SourceFile[];
  readonly kind: RecordKind;
  readonly mapping: Mapping;
  readonly datasetId: string;
  /** Takes the records that are not fit to be sent. */
  readonly reject: (reject: Reject) => Promise<void>;
  readonly onBytes: (count: number) => void;
}

/** Cuts a source into batches by count and bytes; the same content is always cut the same way. */
export async function* batchesOf(source: BatchSource): AsyncIterable<Batch> {
  const { before, after } = source.kind.envelope(source.datasetId);
  let index = 0;
  let entries: Entry[] = [];
  let bytes = 0;
  const cut = (): Batch => {
    const body = before + entries.map(({ text }) => text).join(",") + after;
    const hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
    const batch = { index: index++, entries, ids: new Set(entries.map(({ id }) => id)), body, hash };
    entries = [];
    bytes = 0;
    return batch;
  };
  for (const file of source.files) {
    const entryOf = entryReader(source, file);
    for await (const rows of readRows(file, source.onBytes)) {
      for (const row of rows) {
        const entry = entryOf(row);
        if ("reason" in entry) {
          await source.reject(entry);
          continue;
        }
        const size = Buffer.byteLength(entry.text);
        if (entries.length === limits.recordsPerUpsert || (entries.length > 0 && bytes + size > batchBytes))
          yield cut();
        entries.push(entry);
        bytes += size;
      }
    }
  }
  if (entries.length > 0) yield cut();
}

function entryReader({ kind, mapping }: BatchSource, file: SourceFile): (row: Row) => Entry | Reject {
  const record = mapper(kind, mapping, file.format);
  const source = file.shown;
  return ({ line, columns, fault, text: unread }) => {
    if (!columns) return { source, line, reason: fault ?? "", record: unread ?? "" };
    try {
      const wire = record(columns);
      const id = wire[kind.idKey] as string;
      const text = JSON.stringify(wire);
      if (kind.noun === "event") assertSize(text);
      return { source, line, id, text };
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error;
      return { source, line, reason: error.message, record: shownColumns(columns) };
    }
  };
}

function assertSize(text: string): void {
  // A character takes at most three bytes per unit of its length.
  if (text.length * 3 <= limits.eventBytes) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.eventBytes) return;
  throw new InvalidRecord(
    `the event takes ${bytes} bytes, and ${limits.eventBytes} is the most; shorten its attributes`,
  );
}

/** Parquet holds numbers that JSON cannot. */
function shownColumns(columns: object): string {
  return JSON.stringify(columns, (_, value) => (typeof value === "bigint" ? String(value) : value));
}
