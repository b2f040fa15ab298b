import type { Pairs, UserItem } from "../algorithms";
import { createYielder } from "../base/event-loop";

interface Pair {
  count: number;
  sum: number;
  /** Time of the last event, if times are kept. Deleting that event does not change it unless it was the only one. */
  time?: number;
}

type Rows = Map<number, Map<number, Pair>>;

/** Maximum number of pairs in the maps of changed users. A pair takes about 100 bytes in a map, but 16 in the rows. */
const mostChanged = 500_000;

/**
 * The current events of one type for each user: compact rows, and maps for the users whose events changed since the
 * rows were built. If the maps get large, they are merged into the rows in small steps, so calls are answered
 * meanwhile.
 */
export class History {
  private changed: Rows = new Map();
  private changedPairs = 0;
  /** The maps that are being merged. They no longer change. */
  private merging: Rows | undefined;
  /** Resolves when no merge is running. */
  merged: Promise<void> = Promise.resolve();

  constructor(
    private rows: Pairs,
    private readonly most = mostChanged,
    /** Whether to keep the time of each pair. Without it, `rows` need no times and take a third less memory. */
    private readonly withTimes = false,
  ) {}

  /** Number of pairs that wait for the next merge. */
  get apart(): number {
    return this.changedPairs;
  }

  /** Returns the items that a user has events on. */
  items(user: number): Iterable<number> {
    const { start, index } = this.rows;
    return this.changedOf(user)?.keys() ?? index.subarray(start[user] ?? 0, start[user + 1] ?? 0);
  }

  /** Returns the items of a user, each with the sum of its event values, rounded as in a training. */
  sums(user: number): UserItem[] {
    const { start, sum, time } = this.rows;
    const changed = this.changedOf(user);
    return changed
      ? Array.from(changed, ([item, pair]) => ({
          item,
          weight: Math.fround(pair.sum),
          ...(this.withTimes && { time: pair.time }),
        }))
      : Array.from(this.items(user), (item, at) => ({
          item,
          weight: Math.fround(sum[(start[user] ?? 0) + at] as number),
          ...(this.withTimes && { time: time?.[(start[user] ?? 0) + at] }),
        }));
  }

  /** Returns the items of a user with the weights that a training would use: the sums that are above 0. */
  weights(user: number): UserItem[] {
    return this.sums(user).filter(({ weight }) => weight > 0);
  }

  /** Adds an event of a user, or removes one. */
  change(user: number, item: number, weight: number, by: 1 | -1, time?: number): void {
    let pairs = this.changed.get(user);
    if (!pairs) {
      pairs = this.row(user);
      this.changed.set(user, pairs);
      this.changedPairs += pairs.size;
    }
    const before = pairs.size;
    const pair = pairs.get(item) ?? { count: 0, sum: 0 };
    pair.count += by;
    pair.sum += by * weight;
    if (this.withTimes && time !== undefined) pair.time = Math.max(pair.time ?? time, time);
    if (pair.count > 0) pairs.set(item, pair);
    else pairs.delete(item);
    this.changedPairs += pairs.size - before;
    if (this.changedPairs > this.most && !this.merging) this.merged = this.merge();
  }

  private changedOf(user: number): ReadonlyMap<number, Pair> | undefined {
    return this.changed.get(user) ?? this.merging?.get(user);
  }

  private row(user: number): Map<number, Pair> {
    const pairs = new Map<number, Pair>();
    for (const [item, pair] of this.merging?.get(user) ?? []) pairs.set(item, { ...pair });
    if (this.merging?.has(user)) return pairs;
    const { start, index, count, sum, time } = this.rows;
    for (let at = start[user] ?? 0; at < (start[user + 1] ?? 0); at++) {
      pairs.set(index[at] as number, {
        count: count[at] as number,
        sum: sum[at] as number,
        ...(time && { time: time[at] as number }),
      });
    }
    return pairs;
  }

  private async merge(): Promise<void> {
    const merging = this.changed;
    this.merging = merging;
    this.changed = new Map();
    this.changedPairs = 0;
    this.rows = await mergedRows(this.rows, merging, this.withTimes);
    this.merging = undefined;
  }
}

/** Number of users between two checks whether other work is waiting. */
const usersPerLook = 256;

/** Returns a copy of the rows in which the rows of changed users are replaced. */
async function mergedRows(
  rows: Pairs,
  changed: ReadonlyMap<number, ReadonlyMap<number, Pair>>,
  withTimes: boolean,
): Promise<Pairs> {
  const yieldIfBusy = createYielder();
  let users = rows.start.length - 1;
  for (const user of changed.keys()) users = Math.max(users, user + 1);
  const start = new Uint32Array(users + 1);
  for (let user = 0; user < users; user++) {
    const own = (rows.start[user + 1] ?? 0) - (rows.start[user] ?? 0);
    start[user + 1] = (start[user] as number) + (changed.get(user)?.size ?? Math.max(0, own));
    if (user % usersPerLook === 0) await yieldIfBusy();
  }
  const pairs = start[users] as number;
  const [index, count] = [new Uint32Array(pairs), new Uint32Array(pairs)];
  const sum = new Float64Array(pairs);
  const time = withTimes ? new Float64Array(pairs) : undefined;
  for (let user = 0; user < users; user++) {
    let at = start[user] as number;
    const own = changed.get(user);
    for (const [item, pair] of own ?? []) {
      index[at] = item;
      count[at] = pair.count;
      if (time) time[at] = pair.time ?? 0;
      sum[at++] = pair.sum;
    }
    if (!own) {
      const [from, to] = [rows.start[user] ?? 0, rows.start[user + 1] ?? 0];
      index.set(rows.index.subarray(from, to), at);
      count.set(rows.count.subarray(from, to), at);
      sum.set(rows.sum.subarray(from, to), at);
      if (rows.time) time?.set(rows.time.subarray(from, to), at);
    }
    if (user % usersPerLook === 0) await yieldIfBusy();
  }
  return { start, index, count, sum, time };
}
