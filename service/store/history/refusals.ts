import { toUSVString } from "node:util";
import { dayMs } from "../../base/clock";
import { type Db, isPostgres } from "../database";
import type { Dataset } from "../tables";

/** A record that an upsert refused. */
export interface Refused {
  readonly id: string | null;
  readonly reason: string;
}

/** How often records of a dataset were refused for a reason, and the last few of them. */
export interface Refusals {
  readonly reason: string;
  readonly records: number;
  readonly lastTs: number;
  readonly last: readonly Refused[];
}

/** How long refusals are remembered. */
export const refusalsKeptDays = 30;
/** Reasons of a dataset on one day; those beyond are counted as one. */
const mostReasons = 20;
const [mostLast, longest] = [5, 300];
const otherReasons = "other reasons";

/** Counts the refused records of one upsert by their reasons; of each reason the last few are kept. */
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
  // Locked, or the last few that were read here would come back after a user was forgotten.
  const known = await (isPostgres(db) ? ofDay.forUpdate() : ofDay).execute();
  const reasons = new Map(known.map(({ reason, last }) => [reason, JSON.parse(last) as Refused[]]));
  const groups = new Map<string, Refused[]>();
  for (const one of refused) {
    const own = kindOf(one.reason);
    const reason = reasons.has(own) || reasons.size < mostReasons ? own : otherReasons;
    if (!reasons.has(reason)) reasons.set(reason, []);
    const group = groups.get(reason) ?? [];
    group.push(one);
    groups.set(reason, group);
  }
  // In one order, so that processes which count at once do not wait for each other in a circle.
  const rows = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, group]) => ({
      ...{ dataset, day, reason, records: group.length, last_ts: now },
      last: JSON.stringify(
        [...(reasons.get(reason) ?? []), ...group]
          .slice(-mostLast)
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

/** What was refused of a dataset while it is remembered, most frequent first. */
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
      last: [...(JSON.parse(last) as Refused[]), ...newer.last].slice(-mostLast),
    });
  }
  return [...byReason.values()].sort((a, b) => b.records - a.records || b.lastTs - a.lastTs);
}

/** How often records of datasets were refused since yesterday, and most often for which reason, by their numbers. */
export async function newRefusals(
  db: Db,
  datasets: readonly Pick<Dataset, "number">[],
  now: number,
): Promise<Map<number, Pick<Refusals, "records" | "reason">>> {
  if (datasets.length === 0) return new Map();
  const rows = await db
    .selectFrom("refusals")
    .select((of) => ["dataset", "reason", of.fn.sum<number>("records").as("records")])
    // By the primary key; those of all datasets would be found by looking at each of them.
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
 * Removes what the refusals of datasets say of a user. An id often contains the id of its user, and a refused record need
 * not say whose it is: so none of the last few records is kept, only how many there were.
 */
export async function forgetRefused(db: Db, datasets: readonly number[], userId: string): Promise<void> {
  if (datasets.length === 0) return;
  const rows = await db
    .updateTable("refusals")
    .set({ last: "[]" })
    .where("dataset", "in", datasets)
    .returning(["dataset", "day", "reason"])
    .execute();
  // A reason may quote the name of a field.
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

/** Drops the refusals whose time is over, and those of deleted datasets. */
export async function dropRefusals(db: Db, now: number): Promise<void> {
  const deleted = db.selectFrom("datasets").select("number").where("kind", "=", "deleted");
  await db
    .deleteFrom("refusals")
    .where((of) => of.or([of("day", "<=", firstDay(now)), of("dataset", "in", deleted)]))
    .execute();
}

const firstDay = (now: number) => Math.floor(now / dayMs) - refusalsKeptDays;

/** A reason without what differs from record to record. */
function kindOf(reason: string): string {
  return cut(
    reason.replace(/takes \d+ bytes as JSON, and (\d+) is the most/, "takes more than $1 bytes as JSON"),
  );
}

/** As a database can keep it: names of unknown fields stand in a reason as they were sent. */
function cut(text: string): string {
  return toUSVString(text.slice(0, longest).replaceAll("\0", "\ufffd"));
}
