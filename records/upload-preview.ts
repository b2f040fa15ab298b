import { wireName } from "../contract";
import { batchesOf } from "./batch";
import { columnsOf, missingColumns } from "./columns";
import type { RecordKind } from "./kind";
import type { Mapping } from "./mapping/mapping";
import { generalised, type Reject } from "./rejects";
import type { SourceFile } from "./source";

/** Common column names for fields. The first name that exists is proposed. */
const commonNames: Readonly<Record<string, readonly string[]>> = {
  userId: [
    "user",
    "uid",
    "customer",
    "customerid",
    "member",
    "memberid",
    "account",
    "accountid",
    "visitorid",
  ],
  itemId: ["item", "product", "productid", "sku", "article", "articleid", "movieid", "trackid", "asin"],
  ts: ["timestamp", "time", "datetime", "date", "eventtime", "createdat", "occurredat", "when"],
  eventType: ["event", "type", "action", "eventname", "kind"],
};

/** Records that were rejected for the same reason. */
export interface RejectGroup {
  readonly reason: string;
  readonly count: number;
  /** File of the first record. */
  readonly source: string;
  readonly line: number;
}

/** Expected result of an upload. */
export interface UploadPreview {
  readonly columns: readonly string[];
  /** Proposed columns for fields that have no mapping and no column with the same name. */
  readonly proposed: Readonly<Record<string, string>>;
  /** Required columns that do not exist, with their fields. */
  readonly missing: readonly { readonly field: string; readonly column: string }[];
  /** Number of valid records. Undefined if columns are missing, because then no row is read. */
  readonly recordCount?: number;
  readonly failedCount?: number;
  readonly refusals?: readonly RejectGroup[];
  /** Time of the earliest event, in milliseconds. */
  readonly firstTs?: number;
  readonly lastTs?: number;
}

/** Reads a source as an upload would, with the proposed columns, and sends nothing. */
export async function previewUpload(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
): Promise<UploadPreview> {
  const each = (await Promise.all(files.map(columnsOf))).flatMap((found) => found ?? []);
  const columns = [...new Set(each.flatMap(({ names }) => [...names]))];
  const unmapped = each.flatMap((found) => missingColumns(kind, mapping, found));
  const proposed: Record<string, string> = {};
  for (const { field } of unmapped) {
    const column = mapping[field] === undefined && commonColumn(field, kind, columns);
    if (column) proposed[field] = column;
  }
  const completed = { ...mapping, ...proposed };
  const missing = each
    .flatMap((found) => missingColumns(kind, completed, found))
    .map(({ field, names }) => ({ field, column: names.join(" or ") }));
  const found = { columns, proposed, missing };
  return missing.length > 0 ? found : { ...found, ...(await countRecords(files, kind, completed)) };
}

function commonColumn(field: string, kind: RecordKind, columns: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const names = [...(commonNames[field] ?? []), ...(wireName(field) === kind.idKey ? ["id"] : [])];
  return [plain(field), ...names].flatMap(
    (name) => columns.find((column) => plain(column) === name) ?? [],
  )[0];
}

async function countRecords(files: readonly SourceFile[], kind: RecordKind, mapping: Mapping) {
  const groups = new Map<string, RejectGroup>();
  const reject = ({ reason, source, line }: Reject) => {
    const known = groups.get(generalised(reason));
    groups.set(generalised(reason), { reason, source, line, ...known, count: (known?.count ?? 0) + 1 });
    return true;
  };
  let recordCount = 0;
  let firstTs = Number.POSITIVE_INFINITY;
  let lastTs = Number.NEGATIVE_INFINITY;
  const source = { files, kind, mapping, datasetId: "", reject, onBytes: () => undefined };
  for await (const { entries, body } of batchesOf(source)) {
    recordCount += entries.length;
    if (kind.type !== "event") continue;
    for (const { ts } of (JSON.parse(body.toString()) as { events: { ts: number }[] }).events) {
      firstTs = Math.min(firstTs, ts);
      lastTs = Math.max(lastTs, ts);
    }
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  const failedCount = sorted.reduce((sum, { count }) => sum + count, 0);
  return {
    recordCount,
    failedCount,
    refusals: sorted,
    ...(Number.isFinite(firstTs) ? { firstTs, lastTs } : {}),
  };
}
