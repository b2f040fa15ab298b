import type { Pairs, UserItem } from "../algorithms";

interface Pair {
  count: number;
  sum: number;
}

/** The target events of each user as they stand: the rows of the start, and beside them those that changed since. */
export class History {
  private readonly changed = new Map<number, Map<number, Pair>>();

  constructor(private readonly rows: Pairs) {}

  /** The items that a user has target events for. */
  items(user: number): Iterable<number> {
    const { start, index } = this.rows;
    return this.changed.get(user)?.keys() ?? index.subarray(start[user] ?? 0, start[user + 1] ?? 0);
  }

  /** The same with the weights that a training would see: the sums of the events' values, where these are above 0. */
  weights(user: number): UserItem[] {
    const { start, sum } = this.rows;
    const changed = this.changed.get(user);
    const pairs = changed
      ? Array.from(changed, ([item, pair]) => ({ item, weight: Math.fround(pair.sum) }))
      : Array.from(this.items(user), (item, at) => ({
          item,
          weight: Math.fround(sum[(start[user] ?? 0) + at] as number),
        }));
    return pairs.filter(({ weight }) => weight > 0);
  }

  /** Adds an event to a user's row, or takes one out. */
  change(user: number, item: number, weight: number, by: 1 | -1): void {
    let pairs = this.changed.get(user);
    if (!pairs) {
      pairs = this.row(user);
      this.changed.set(user, pairs);
    }
    const pair = pairs.get(item) ?? { count: 0, sum: 0 };
    pair.count += by;
    pair.sum += by * weight;
    if (pair.count > 0) pairs.set(item, pair);
    else pairs.delete(item);
  }

  private row(user: number): Map<number, Pair> {
    const { start, index, count, sum } = this.rows;
    const pairs = new Map<number, Pair>();
    for (let at = start[user] ?? 0; at < (start[user + 1] ?? 0); at++) {
      pairs.set(index[at] as number, { count: count[at] as number, sum: sum[at] as number });
    }
    return pairs;
  }
}
