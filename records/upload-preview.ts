import { wireName } from "../contract";
import { batchesOf } from "./batch";
import { columnsOf, missingColumns } from "./columns";
import type { RecordKind } from "./kind";
import type { Mapping } from "./mapping/mapping";
import { generalised, type Reject } from "./rejects";
import type { SourceFile } from "./source";

/** What columns are often called whose field has another name; the first that is there is proposed. */
const usualNames: Readonly<Record<string, readonly string[]>> = {
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

/** Records that were refused for the same reason. */
export interface Refusal {
  readonly reason: string;
  readonly count: number;
  /** Where the first of them is. */
  readonly source: string;
  readonly line: number;
}

/** What an upload of a source would come to. */
export interface Survey {
  readonly columns: readonly string[];
  /** The columns of fields that are neither mapped nor have a column of their name, by what columns are usually called. */
  readonly proposed: Readonly<Record<string, string>>;
  /** Columns that are asked for and not there, each with its field. */
  readonly missing: readonly { readonly field: string; readonly column: string }[];
  /** Absent where columns are missing: then no row is read. */
  readonly recordCount?: number;
  readonly failedCount?: number;
  readonly refusals?: readonly Refusal[];
  /** Times of the first and the last event, in milliseconds. */
  readonly firstTs?: number;
  readonly lastTs?: number;
}

/** Finds out what an upload would come to, with the columns that are proposed, and sends nothing. */
export async function survey(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
): Promise<Survey> {
  const each = (await Promise.all(files.map(columnsOf))).flatMap((found) => found ?? []);
  const columns = [...new Set(each.flatMap(({ names }) => [...names]))];
  const lacking = each.flatMap((found) => missingColumns(kind, mapping, found));
  const proposed: Record<string, string> = {};
  for (const { field } of lacking) {
    const column = mapping[field] === undefined && usualColumn(field, kind, columns);
    if (column) proposed[field] = column;
  }
  const completed = { ...mapping, ...proposed };
  const missing = each
    .flatMap((found) => missingColumns(kind, completed, found))
    .map(({ field, names }) => ({ field, column: names.join(" or ") }));
  const found = { columns, proposed, missing };
  return missing.length > 0 ? found : { ...found, ...(await counted(files, kind, completed)) };
}

function usualColumn(field: string, kind: RecordKind, columns: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const names = [...(usualNames[field] ?? []), ...(wireName(field) === kind.idKey ? ["id"] : [])];
  return [plain(field), ...names].flatMap(
    (name) => columns.find((column) => plain(column) === name) ?? [],
  )[0];
}

async function counted(files: readonly SourceFile[], kind: RecordKind, mapping: Mapping) {
  const refusals = new Map<string, Refusal>();
  const reject = ({ reason, source, line }: Reject) => {
    const known = refusals.get(generalised(reason));
    refusals.set(generalised(reason), { reason, source, line, ...known, count: (known?.count ?? 0) + 1 });
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
  const sorted = [...refusals.values()].sort((a, b) => b.count - a.count);
  const failedCount = sorted.reduce((sum, { count }) => sum + count, 0);
  return {
    ...{ recordCount, failedCount, refusals: sorted },
    ...(Number.isFinite(firstTs) ? { firstTs, lastTs } : {}),
  };
}
