import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { batchesOf } from "../../records/batch";
import type { Format } from "../../records/formats/format";
import { type RecordKindName, recordKinds } from "../../records/kind";
import type { Mapping } from "../../records/mapping/mapping";
import type { Reject } from "../../records/rejects";
import { findFiles, type SourceFile } from "../../records/source";

/** Directory for the sources of one test file and for the state of uploads. */
export class TestDirectory {
  readonly path = mkdtempSync(join(tmpdir(), "recommender-records-"));

  constructor() {
    process.env.XDG_STATE_HOME = join(this.path, "state");
  }

  /** Writes a file and returns its path. */
  write(name: string, content: string | Buffer): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Reads a source. Returns the records that an upload would send, and those that it would reject. */
export async function read(
  kind: RecordKindName,
  source: string,
  { format, ...options }: { mapping?: Mapping; format?: Format } = {},
) {
  return readFiles(kind, await findFiles(source, format), options);
}

/** Reads the files of a source. */
export async function readFiles(
  kind: RecordKindName,
  files: readonly SourceFile[],
  { mapping = {} }: { mapping?: Mapping } = {},
) {
  const rejects: Reject[] = [];
  const records: Record<string, unknown>[] = [];
  const lines: number[] = [];
  const batches = batchesOf({
    files,
    kind: recordKinds[kind],
    mapping,
    datasetId: "d",
    reject: (reject) => rejects.push(reject) > 0,
    onBytes: () => undefined,
  });
  for await (const { body, entries } of batches) {
    records.push(...JSON.parse(body.toString())[kind]);
    lines.push(...entries.map(({ line }) => line));
  }
  return { records, lines, rejects };
}
