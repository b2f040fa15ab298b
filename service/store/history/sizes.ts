import { sql } from "kysely";
import { dayMs } from "../../base/clock";
import type { Db } from "../database";
import type { Dataset } from "../tables";

/** How many records a dataset had at a time. */
export interface Size {
  readonly ts: number;
  readonly records: number;
}

/** At which rate a dataset has grown, and when that would fill it. */
export interface Growth {
  readonly perDay: number;
  /** Over how many days. */
  readonly days: number;
  /** Null where that is too far off to be said. */
  readonly fullTs: number | null;
}

/** The days that a rate is taken from, at least and at most, and how far it is carried on. */
const [fewestDays, mostDays, farthestDays] = [3, 14, 3650];

/** Writes down how many records each dataset has, once a day. */
export async function noteSizes(db: Db, now: number): Promise<void> {
  const day = Math.floor(now / dayMs);
  await sql`
    insert into dataset_sizes (dataset, day, ts, records)
    select number, cast(${day} as integer), cast(${now} as bigint), coalesce((select sum(records) from shards where dataset = number), 0)
    from datasets where kind <> 'deleted'
    on conflict do nothing`.execute(db);
  await db
    .deleteFrom("dataset_sizes")
    .where("day", "<", day - mostDays)
    .execute();
}

/** How a dataset has grown of late. */
export async function growthOf(
  db: Db,
  { number }: Dataset,
  now: Size,
  capacity: number,
): Promise<Growth | null> {
  const sizes = await db
    .selectFrom("dataset_sizes")
    .select(["ts", "records"])
    .where("dataset", "=", number)
    .where("ts", ">", now.ts - mostDays * dayMs)
    .orderBy("ts")
    .execute();
  return growthFrom([...sizes, now], capacity);
}

/** The rate of all these days; null where they are too few, or where it would be that of a single import. */
export function growthFrom(sizes: readonly Size[], capacity: number): Growth | null {
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (!first || !last) return null;
  const days = (last.ts - first.ts) / dayMs;
  const grown = last.records - first.records;
  const steps = sizes.slice(1).map(({ records }, at) => records - (sizes[at] as Size).records);
  if (days < fewestDays || grown <= 0 || steps.some((step) => step > grown / 2)) return null;
  const perDay = grown / days;
  const left = Math.max(0, capacity - last.records) / perDay;
  return { perDay, days, fullTs: left > farthestDays ? null : last.ts + left * dayMs };
}
