import type { Client } from "../client/client";
import { undefinedIfMissing } from "../client/error-meaning";
import { limits, routes } from "../contract";
import type { RecordKind } from "./kind";
import { InvalidRecord, type Mapping, mapper } from "./mapping/mapping";
import { atMostRecords, readRows, type SourceFile } from "./source";

/** The number of shards for so many records: 10, and one more for each further 100,000 that these do not hold. */
export function numShardsFor(records: number): number {
  return Math.max(limits.quickStartShards, Math.ceil(records / limits.recordsPerShard));
}

/** The number of shards of a dataset, where the API reports it: it reads only event datasets back. */
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

/** Refuses a source that holds more records than fit into a dataset's shards. */
export async function assertFits(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
  numShards: number,
): Promise<void> {
  const ceiling = numShards * limits.recordsPerShard;
  // Lines are counted fast; ids only where lines could be too many, for an id may come twice.
  if ((await atMostRecords(files)) <= ceiling) return;
  const records = await distinctIds(files, kind, mapping);
  if (records * (1 - uncertainty) <= ceiling) return;
  const most = ceiling.toLocaleString("en");
  throw new Error(
    `the source holds about ${records.toLocaleString("en")} records, but ${numShards === 1 ? "1 shard holds" : `${numShards} shards hold`} ${most}; ` +
      `nothing was uploaded. Declare the dataset with numShards: ${numShardsFor(records)}, which creates another dataset.`,
  );
}

const bits = 2 ** 27;

/** How far off the count of different ids may be; a source that close to the ceiling is left to the service. */
const uncertainty = 0.001;

/** How many different ids there are, by linear counting: in 16 MB, whatever the source. */
async function distinctIds(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
): Promise<number> {
  const seen = new Uint32Array(bits / 32);
  let taken = 0;
  let records = 0;
  for (const file of files) {
    const record = mapper(kind, mapping, file.format);
    for await (const rows of readRows(file)) {
      for (const { columns } of rows) {
        const id = columns && idOf(() => record(columns), kind.idKey);
        if (id === undefined) continue;
        records++;
        const bit = hashOf(id);
        const mask = 1 << (bit & 31);
        if (((seen[bit >>> 5] as number) & mask) !== 0) continue;
        seen[bit >>> 5] = (seen[bit >>> 5] as number) | mask;
        taken++;
      }
    }
  }
  return Math.min(records, Math.round(-bits * Math.log1p(-taken / bits)));
}

function idOf(record: () => Readonly<Record<string, unknown>>, key: string): string | undefined {
  try {
    return record()[key] as string;
  } catch (error) {
    if (error instanceof InvalidRecord) return undefined;
    throw error;
  }
}

/** FNV-1a with the last bits mixed in (MurmurHash3's end), to 27 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 5;
}
