import { toUSVString } from "node:util";
import { dayMs } from "../../base/clock";
import { type Db, isPostgres } from "../database";
import type { Dataset } from "../tables";

/** A record that an upsert rejected. */
export interface Refused {
  readonly id: string | null;
  readonly reason: string;
}

/** Number of a dataset's records that were rejected for one reason, and the last few of them. */
export interface Refusals {
  readonly reason: string;
  readonly records: number;
  readonly lastTs: number;
  readonly last: readonly Refused[];
}

/** How long rejected records are remembered. */
export const refusalsKeptDays = 30;
/** Maximum number of distinct reasons per dataset and day. Further reasons are counted together. */
const maxReasons = 20;
const maxLast = 5;
const maxCharacters = 300;
const otherReasons = "other reasons";

/** Counts the rejected records of an upsert by reason, and stores the last few of each reason. */
export async function countRefusals(
  db: Db,
  { number: dataset }: Pick<Dataset, "number">,
  refused: readonly Refused[],
  now: number,
): Promise<void> {
  const day = Math.floor(now / dayMs);
  const ofDay = db
    .selectFrom("refusals")
    .select(["reason", "last"])
    .where("dataset", "=", dataset)
    .where("day", "=", day)
    .orderBy("reason");
  // Without the lock, this could restore records of a user who is forgotten at the same time.
  const known = await ofDay.$if(isPostgres(db), (rows) => rows.forUpdate()).execute();
  const reasons = new Map(known.map(({ reason, last }) => [reason, JSON.parse(last) as Refused[]]));
  const groups = new Map<string, Refused[]>();
  for (const one of refused) {
    const kind = kindOf(one.reason);
    const reason = reasons.has(kind) || reasons.size < maxReasons ? kind : otherReasons;
    if (!reasons.has(reason)) reasons.set(reason, []);
    const group = groups.get(reason) ?? [];
    group.push(one);
    groups.set(reason, group);
  }
  // The same order in every process prevents deadlocks.
  const rows = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, group]) => ({
      dataset,
      day,
      reason,
      records: group.length,
      last_ts: now,
      last: JSON.stringify(
        [...(reasons.get(reason) ?? []), ...group]
          .slice(-maxLast)
          .map(({ id, reason }) => ({ id: id && cut(id), reason: cut(reason) })),
      ),
    }));
  await db
    .insertInto("refusals")
    .values(rows)
    .onConflict((on) =>
      on.columns(["dataset", "day", "reason"]).doUpdateSet((of) => ({
        records: of("refusals.records", "+", of.ref("excluded.records")),
        last_ts: of.ref("excluded.last_ts"),
        last: of.ref("excluded.last"),
      })),
    )
    .execute();
}

/** Returns the remembered rejections of a dataset, most frequent reason first. */
export async function refusalsOf(db: Db, { number }: Dataset, now: number): Promise<Refusals[]> {
  const rows = await db
    .selectFrom("refusals")
    .selectAll()
    .where("dataset", "=", number)
    .where("day", ">", firstDay(now))
    .orderBy("last_ts", "desc")
    .execute();
  const byReason = new Map<string, Refusals>();
  for (const { reason, records, last_ts, last } of rows) {
    const newer = byReason.get(reason) ?? { reason, records: 0, lastTs: last_ts, last: [] };
    byReason.set(reason, {
      ...newer,
      records: newer.records + records,
      last: [...(JSON.parse(last) as Refused[]), ...newer.last].slice(-maxLast),
    });
  }
  return [...byReason.values()].sort((a, b) => b.records - a.records || b.lastTs - a.lastTs);
}

/**
 * Returns how many records each dataset rejected yesterday and today, and the most frequent reason, by dataset number.
 */
export async function newRefusals(
  db: Db,
  datasets: readonly Pick<Dataset, "number">[],
  now: number,
): Promise<Map<number, Pick<Refusals, "records" | "reason">>> {
  if (datasets.length === 0) return new Map();
  const rows = await db
    .selectFrom("refusals")
    .select((of) => ["dataset", "reason", of.fn.sum<number>("records").as("records")])
    // Lets the database use the primary key. Without this condition, it would scan the whole table.
    .where(
      "dataset",
      "in",
      datasets.map(({ number }) => number),
    )
    .where("day", ">=", Math.floor(now / dayMs) - 1)
    .groupBy(["dataset", "reason"])
    .orderBy("records", "desc")
    .execute();
  const found = new Map<number, Pick<Refusals, "records" | "reason">>();
  for (const { dataset, reason, records } of rows) {
    const { reason: most = reason, records: before = 0 } = found.get(dataset) ?? {};
    found.set(dataset, { records: before + Number(records), reason: most === otherReasons ? reason : most });
  }
  return found;
}

/**
 * Removes a user from the rejected records of datasets. Record ids often contain a user id, and a rejected record may
 * lack its user id. So all stored records are removed, and only their counts are kept.
 */
export async function forgetRefused(db: Db, datasets: readonly number[], userId: string): Promise<void> {
  if (datasets.length === 0) return;
  const rows = await db
    .updateTable("refusals")
    .set({ last: "[]" })
    .where("dataset", "in", datasets)
    .returning(["dataset", "day", "reason"])
    .execute();
  // A reason may quote the name of a field, which may contain the user id.
  const named = new RegExp(`(^|[^\\w-])${userId.replace(/[^\w]/g, "\\$&")}($|[^\\w-])`);
  for (const { dataset, day, reason } of rows)
    if (named.test(reason))
      await db
        .deleteFrom("refusals")
        .where("dataset", "=", dataset)
        .where("day", "=", day)
        .where("reason", "=", reason)
        .execute();
}

/** Deletes old rejections, and those of deleted datasets. */
export async function dropRefusals(db: Db, now: number): Promise<void> {
  const deleted = db.selectFrom("datasets").select("number").where("kind", "=", "deleted");
  await db
    .deleteFrom("refusals")
    .where((of) => of.or([of("day", "<=", firstDay(now)), of("dataset", "in", deleted)]))
    .execute();
}

const firstDay = (now: number) => Math.floor(now / dayMs) - refusalsKeptDays;

/** Returns a reason without the parts that differ from record to record. */
function kindOf(reason: string): string {
  return cut(
    reason.replace(
      /takes \d+ bytes as JSON, but at most (\d+) are allowed/,
      "takes more than $1 bytes as JSON",
    ),
  );
}

/**
 * Shortens a text and replaces characters that a database cannot store. Reasons quote field names exactly as they were
 * sent.
 */
function cut(text: string): string {
  return toUSVString(text.slice(0, maxCharacters).replaceAll("\0", "\ufffd"));
}
