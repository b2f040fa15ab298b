import { sql } from "kysely";
import { dayMs } from "../../base/clock";
import type { Db } from "../database";
import type { Dataset } from "../tables";

/** Number of records in a dataset at a time. */
export interface Size {
  readonly ts: number;
  readonly records: number;
}

/** Growth rate of a dataset, and when the dataset would be full. */
export interface Growth {
  readonly perDay: number;
  /** Number of days over which the rate was measured. */
  readonly days: number;
  /** Null if it is more than ten years away. */
  readonly fullTs: number | null;
}

/** Days over which a rate is measured. */
const minDays = 3;
const maxDays = 14;
/** How far ahead a rate is extrapolated. */
const maxForecastDays = 3650;

/** Stores the number of records of each dataset, once a day. */
export async function recordSizes(db: Db, now: number): Promise<void> {
  const day = Math.floor(now / dayMs);
  await sql`
    insert into dataset_sizes (dataset, day, ts, records)
    select number, cast(${day} as integer), cast(${now} as bigint), coalesce((select sum(records) from shards where dataset = number), 0)
    from datasets where kind <> 'deleted'
    on conflict do nothing`.execute(db);
  await db
    .deleteFrom("dataset_sizes")
    .where("day", "<", day - maxDays)
    .execute();
}

/** Returns the recent growth of a dataset, or null if it cannot be estimated. */
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
    .where("ts", ">", now.ts - maxDays * dayMs)
    .orderBy("ts")
    .execute();
  return growthFrom([...sizes, now], capacity);
}

/** Computes the growth from sizes. Returns null if they cover too few days, or if one import makes up most of the growth. */
export function growthFrom(sizes: readonly Size[], capacity: number): Growth | null {
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (!first || !last) return null;
  const days = (last.ts - first.ts) / dayMs;
  const grown = last.records - first.records;
  const steps = sizes.slice(1).map(({ records }, at) => records - (sizes[at] as Size).records);
  if (days < minDays || grown <= 0 || steps.some((step) => step > grown / 2)) return null;
  const perDay = grown / days;
  const left = Math.max(0, capacity - last.records) / perDay;
  return { perDay, days, fullTs: left > maxForecastDays ? null : last.ts + left * dayMs };
}
