import type { Client } from "../client/client";
import { undefinedIfMissing } from "../client/error-meaning";
import { limits, routes } from "../contract";
import { hashOf } from "./id-filter";
import type { RecordKind } from "./kind";
import { InvalidRecord, type Mapping, mapper } from "./mapping/mapping";
import { maxRecordCount, readRows, type SourceFile } from "./source";

/** Returns the number of shards to declare for a number of records: one per 100,000, and at least 10. */
export function numShardsFor(records: number): number {
  return Math.max(limits.quickStartShards, Math.ceil(records / limits.recordsPerShard));
}

/** Reads the number of shards of a dataset. The API reports it only for event datasets. */
export async function shardsOf(
  kind: RecordKind,
  datasetId: string,
  client: Client,
): Promise<number | undefined> {
  if (kind.type !== "event") return undefined;
  const dataset = await undefinedIfMissing(
    client.call(routes.getEventDataset, { eventDatasetId: datasetId }),
  );
  return dataset?.numShards ?? undefined;
}

/** Throws if a source has more records than the shards of a dataset can hold. Called before the upload. */
export async function assertFits(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
  numShards: number,
): Promise<void> {
  const capacity = numShards * limits.recordsPerShard;
  // Counting lines is fast but includes repeated ids. Distinct ids are counted only if there are too many lines.
  if ((await maxRecordCount(files)) <= capacity) return;
  const records = await distinctIds(files, kind, mapping);
  if (records * (1 - uncertainty) <= capacity) return;
  throw new Error(
    `the source has about ${records.toLocaleString("en")} records, but ${numShards === 1 ? "1 shard holds" : `${numShards} shards hold`} ` +
      `${capacity.toLocaleString("en")}; nothing was uploaded. Declare the dataset with numShards: ${numShardsFor(records)}, ` +
      "which creates a new dataset.",
  );
}

/** Number of bits in the bitmap for linear counting (16 MB). */
const bitmapBits = 2 ** 27;

/** Relative error of the estimate. If a source exceeds the capacity by less than this, the service decides. */
const uncertainty = 0.001;

/** Estimates the number of distinct ids by linear counting. */
async function distinctIds(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
): Promise<number> {
  const seen = new Uint32Array(bitmapBits / 32);
  let setBits = 0;
  let records = 0;
  for (const file of files) {
    const record = mapper(kind, mapping, file.format);
    for await (const rows of readRows(file)) {
      for (const { columns } of rows) {
        const id = columns && idOf(() => record(columns), kind.idKey);
        if (id === undefined) continue;
        records++;
        const bit = hashOf(id) >>> 5;
        const mask = 1 << (bit & 31);
        if (((seen[bit >>> 5] as number) & mask) !== 0) continue;
        seen[bit >>> 5] = (seen[bit >>> 5] as number) | mask;
        setBits++;
      }
    }
  }
  return Math.min(records, Math.round(-bitmapBits * Math.log1p(-setBits / bitmapBits)));
}

function idOf(record: () => Readonly<Record<string, unknown>>, key: string): string | undefined {
  try {
    return record()[key] as string;
  } catch (error) {
    if (error instanceof InvalidRecord) return undefined;
    throw error;
  }
}
