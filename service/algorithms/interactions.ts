/** User-item pairs with weights, as a sparse matrix with one row per user. Item indices in a row are ascending. */
export interface Interactions {
  readonly users: number;
  readonly items: number;
  /** The entries of user u are at start[u] up to, not including, start[u + 1] in the other arrays. */
  readonly start: Uint32Array;
  readonly index: Uint32Array;
  /** Sum of the event values of each pair, above 0. */
  readonly weight: Float32Array;
  /** Time of the last event of each pair. Absent if times are unknown or all the same. */
  readonly time?: Float64Array | undefined;
}

/** Interactions with times. */
export type TimedInteractions = Interactions & { readonly time: Float64Array };

/** All pairs with events, including those with a sum of 0 or less. Stored in rows like `Interactions`. */
export interface Pairs {
  readonly start: Uint32Array;
  readonly index: Uint32Array;
  /** Number of events of each pair. */
  readonly count: Uint32Array;
  readonly sum: Float64Array;
  /** Time of the last event of each pair, if events were added with times. */
  readonly time?: Float64Array | undefined;
}

/** Builds interactions from events. The caller maps ids to indices. */
export class InteractionsBuilder {
  private length = 0;
  private userOf = new Uint32Array(1024);
  private itemOf = new Uint32Array(1024);
  private weightOf = new Float32Array(1024);
  private timeOf: Float64Array | undefined;
  private users = 0;
  private items = 0;

  /** Adds one event. Either all events have a time or none. */
  add(user: number, item: number, weight: number, time?: number): void {
    if (this.length === this.userOf.length) this.grow();
    if (time !== undefined) {
      this.timeOf ??= new Float64Array(this.userOf.length);
      this.timeOf[this.length] = time;
    }
    this.userOf[this.length] = user;
    this.itemOf[this.length] = item;
    this.weightOf[this.length] = Number.isFinite(Math.fround(weight)) ? weight : 0;
    this.length++;
    if (user >= this.users) this.users = user + 1;
    if (item >= this.items) this.items = item + 1;
  }

  /** Replaces indices: user u becomes users[u], item i becomes items[i]. */
  renumber(users: Uint32Array, items: Uint32Array): void {
    for (let event = 0; event < this.length; event++) {
      this.userOf[event] = users[this.userOf[event]];
      this.itemOf[event] = items[this.itemOf[event]];
    }
    this.users = users.length;
    this.items = items.length;
  }

  /** Sums the events of each pair, and leaves out pairs with a sum of 0 or less. */
  build(users = this.users, items = this.items): Interactions {
    const { start, index, sum, time } = this.pairs(users, items);
    const weight = Float32Array.from(sum);
    const all = { users, items, start, index, weight, time };
    const built = filterEntries(all, (entry) => weight[entry] > 0);
    return built.time?.some((one) => one !== built.time?.[0]) ? built : { ...built, time: undefined };
  }

  /** Counts and sums the events of each pair. */
  pairs(users = this.users, items = this.items): Pairs {
    if (users < this.users || items < this.items) {
      throw new RangeError(
        `Events refer to ${this.users} users and ${this.items} items, but only ${users} users and ${items} items were expected.`,
      );
    }
    const order = byColumn(this.itemOf.subarray(0, this.length), items);
    const start = countStarts(this.userOf.subarray(0, this.length), users);
    const next = start.slice();
    const index = new Uint32Array(this.length);
    const weight = new Float32Array(this.length);
    const time = this.timeOf && new Float64Array(this.length);
    for (const event of order) {
      const at = next[this.userOf[event]]++;
      index[at] = this.itemOf[event];
      weight[at] = this.weightOf[event];
      if (time && this.timeOf) time[at] = this.timeOf[event];
    }
    return merged(start, index, weight, time);
  }

  private grow(): void {
    const size = this.userOf.length * 2;
    const larger = <T extends Uint32Array | Float32Array | Float64Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.userOf = larger(new Uint32Array(size), this.userOf);
    this.itemOf = larger(new Uint32Array(size), this.itemOf);
    this.weightOf = larger(new Float32Array(size), this.weightOf);
    if (this.timeOf) this.timeOf = larger(new Float64Array(size), this.timeOf);
  }
}

/** Transposes interactions: returns rows of items with ascending user indices. */
export function transpose(of: Interactions): Interactions {
  const start = countStarts(of.index, of.items);
  const next = start.slice();
  const index = new Uint32Array(of.index.length);
  const weight = new Float32Array(of.index.length);
  for (let user = 0; user < of.users; user++) {
    for (let at = of.start[user]; at < of.start[user + 1]; at++) {
      const to = next[of.index[at]]++;
      index[to] = user;
      weight[to] = of.weight[at];
    }
  }
  return { users: of.items, items: of.users, start, index, weight };
}

/** Keeps the entries for which `keep` returns true. Users and items keep their indices. */
export function filterEntries(
  of: Interactions,
  keep: (entry: number, user: number) => boolean,
): Interactions {
  const start = new Uint32Array(of.users + 1);
  const index = new Uint32Array(of.index.length);
  const weight = new Float32Array(of.index.length);
  const time = of.time && new Float64Array(of.index.length);
  let length = 0;
  for (let user = 0; user < of.users; user++) {
    for (let at = of.start[user]; at < of.start[user + 1]; at++) {
      if (!keep(at, user)) continue;
      index[length] = of.index[at];
      if (time) time[length] = of.time?.[at];
      weight[length++] = of.weight[at];
    }
    start[user + 1] = length;
  }
  return {
    ...of,
    start,
    index: index.slice(0, length),
    weight: weight.slice(0, length),
    time: time?.slice(0, length),
  };
}

/**
 * Leaves out the held-out pairs. Keeps such a pair only if its last event is known to be earlier than the held-out one.
 */
export function without(of: Interactions, held: Interactions): Interactions {
  const since = new Map<number, number>();
  let last = -1;
  return filterEntries(of, (entry, user) => {
    if (user !== last) {
      since.clear();
      for (let at = held.start[user]; at < held.start[user + 1]; at++)
        since.set(held.index[at], held.time?.[at] ?? Number.NEGATIVE_INFINITY);
      last = user;
    }
    const from = since.get(of.index[entry]);
    return from === undefined || (of.time !== undefined && of.time[entry] < from);
  });
}

/** Keeps only the given users, renumbered in the given order. Items keep their indices. */
export function selectUsers(of: Interactions, users: Uint32Array): Interactions {
  const start = startsOf(of.start, users);
  const length = start[users.length];
  const index = new Uint32Array(length);
  const weight = new Float32Array(length);
  const time = of.time && new Float64Array(length);
  users.forEach((user, at) => {
    const from = of.start[user];
    const to = of.start[user + 1];
    index.set(of.index.subarray(from, to), start[at]);
    weight.set(of.weight.subarray(from, to), start[at]);
    if (of.time) time?.set(of.time.subarray(from, to), start[at]);
  });
  return { users: users.length, items: of.items, start, index, weight, time };
}

/** Returns the row starts of a matrix that contains only the given users. */
export function startsOf(start: Uint32Array, users: Uint32Array): Uint32Array {
  const own = new Uint32Array(users.length + 1);
  users.forEach((user, at) => {
    own[at + 1] = own[at] + start[user + 1] - start[user];
  });
  return own;
}

/** Returns the item indices of one user; in transposed interactions, the user indices of one item. */
export function rowOf({ start, index }: Pick<Interactions, "start" | "index">, row: number): Uint32Array {
  return index.subarray(start[row], start[row + 1]);
}

/** Returns the users that have at least one item. */
export function usersWithItems({ users, start }: Interactions): Uint32Array {
  return Uint32Array.from({ length: users }, (_, user) => user).filter(
    (user) => start[user] !== start[user + 1],
  );
}

/** Returns the number of users of each item. */
export function itemCounts(of: Interactions): Uint32Array {
  const counts = new Uint32Array(of.items);
  for (const item of of.index) counts[item] += 1;
  return counts;
}

function countStarts(values: Uint32Array, bound: number): Uint32Array {
  const start = new Uint32Array(bound + 1);
  for (const value of values) start[value + 1] += 1;
  for (let at = 0; at < bound; at++) start[at + 1] += start[at];
  return start;
}

function byColumn(values: Uint32Array, bound: number): Uint32Array {
  const next = countStarts(values, bound);
  const order = new Uint32Array(values.length);
  values.forEach((value, at) => {
    order[next[value]++] = at;
  });
  return order;
}

/** Merges rows with one entry per event into rows with one entry per pair. */
function merged(start: Uint32Array, index: Uint32Array, weight: Float32Array, time?: Float64Array): Pairs {
  const users = start.length - 1;
  const isFirst = (at: number, user: number) => at === start[user] || index[at] !== index[at - 1];
  let length = 0;
  for (let user = 0; user < users; user++) {
    for (let at = start[user]; at < start[user + 1]; at++) if (isFirst(at, user)) length++;
  }
  const pairs = {
    start: new Uint32Array(users + 1),
    index: new Uint32Array(length),
    count: new Uint32Array(length),
    sum: new Float64Array(length),
    time: time && new Float64Array(length).fill(Number.NEGATIVE_INFINITY),
  };
  let pair = -1;
  for (let user = 0; user < users; user++) {
    for (let at = start[user]; at < start[user + 1]; at++) {
      if (isFirst(at, user)) pairs.index[++pair] = index[at];
      pairs.count[pair] = pairs.count[pair] + 1;
      if (time && pairs.time) pairs.time[pair] = Math.max(pairs.time[pair], time[at]);
      const from = at + 1 - pairs.count[pair];
      if (at + 1 === start[user + 1] || index[at + 1] !== index[at])
        pairs.sum[pair] = sumOf(weight.subarray(from, at + 1));
    }
    pairs.start[user + 1] = pair + 1;
  }
  return pairs;
}

/** Sums values in ascending order, so the rounding does not depend on the order of events. Sorts them in place. */
export function sumOf(values: Float32Array): number {
  return values.sort().reduce((sum, value) => sum + value, 0);
}
