import { type Interactions, itemCounts, transpose } from "./interactions";
import { arrayBytes, Kernel, type KernelExports } from "./kernel";
import { nthLowest } from "./top";

/**
 * What the users who chose the same items chose beside them adds to the scores: the linear part of a graph filter,
 * r · R̃ᵀR̃, with exponents of its own for each of the four degrees that it is scaled by.
 */
export interface NeighbourRule {
  /** All of it is multiplied by this. */
  readonly scale: number;
  /** What n items of a user add is divided by n to this power. */
  readonly damping: number;
  /** What an item that n users chose says about them is divided by n to this power. */
  readonly itemExponent: number;
  /** What a user with n items says about each is divided by n to this power. */
  readonly userExponent: number;
  /** What is said about an item that n users chose is divided by n to this power: it holds the popular back. */
  readonly popularityExponent: number;
}

/** Entries that one answer looks at on each of the two ways, to the users and back: less than a millisecond. */
export const MOST_ENTRIES = 300_000;

/** Rows of users or of items, as they lie in the kernel's memory. */
type Rows = Pick<Interactions, "start" | "index">;

/** The items of each user and the users of each item in a kernel's memory, with room to reckon in, zero at first. */
export interface PlacedRows {
  readonly run: KernelExports;
  readonly itemsOf: Rows;
  readonly usersOf: Rows;
  /** How near each user is, zero between two calls. */
  readonly nearness: Float32Array;
  /** One more than there are users: the kernel writes one place ahead. */
  readonly met: Uint32Array;
  readonly kept: Uint32Array;
  readonly said: Float32Array;
}

function placedRows(interactions: Interactions, of: Rows): PlacedRows {
  const { users, items, index } = interactions;
  const lengths = [users + 1, items + 1, index.length, index.length, users, users + 1, users, items];
  const kernel = new Kernel(lengths.reduce((sum, length) => sum + arrayBytes(length), 0));
  const placed = (rows: Rows): Rows => {
    const [starts, indices] = [kernel.integers(rows.start.length), kernel.integers(index.length)];
    starts.set(rows.start);
    indices.set(rows.index);
    return { start: starts, index: indices };
  };
  return {
    ...{ run: kernel.run, itemsOf: placed(interactions), usersOf: placed(of) },
    ...{ nearness: kernel.floats(users), met: kernel.integers(users + 1) },
    ...{ kept: kernel.integers(users), said: kernel.floats(items) },
  };
}

/** Finds what the neighbours of a user say about items: those who chose what he chose. */
export class Neighbours {
  private readonly ofItem: Float32Array;
  private readonly ofUser: Float32Array;
  private readonly ofScore: Float32Array;
  private readonly ordered: Float32Array;

  constructor(
    interactions: Interactions,
    private readonly rule: NeighbourRule,
    /** How many users chose each item, where the interactions are those of some users only. */
    private readonly counts = itemCounts(interactions),
    /** Where the rows lie already. */
    private readonly placed = placedRows(interactions, transpose(interactions)),
  ) {
    const { users, start } = interactions;
    this.ofItem = Float32Array.from(this.counts, (count) => power(count, rule.itemExponent));
    this.ofScore = Float32Array.from(
      this.counts,
      (count) => rule.scale * power(count, rule.popularityExponent),
    );
    this.ofUser = Float32Array.from({ length: users }, (_, user) =>
      power(start[user + 1] - start[user], rule.userExponent),
    );
    this.ordered = new Float32Array(users);
  }

  /** The items of each user. */
  get itemsOf(): Rows {
    return this.placed.itemsOf;
  }

  /** Adds to the scores what is said about the items by those who chose what a user chose. */
  add(scores: Float32Array, chosen: ArrayLike<number>): void {
    const { ofScore } = this;
    const { run, itemsOf, nearness, said } = this.placed;
    const met = this.meet(chosen);
    const users = this.nearest(met);
    said.fill(0);
    run.addEntries(
      users.byteOffset,
      users.length,
      itemsOf.start.byteOffset,
      itemsOf.index.byteOffset,
      nearness.byteOffset,
      said.byteOffset,
    );
    for (let item = 0; item < said.length; item++) scores[item] += said[item] * ofScore[item];
    this.part(met);
  }

  /** What each chosen item adds to the score of each target, by the users that it leads to; sums to what `add` adds. */
  contributions(chosen: ArrayLike<number>, targets: readonly number[]): Float64Array[] {
    const met = this.meet(chosen);
    const { start, index } = this.itemsOf;
    const places = new Map(targets.map((item, at) => [item, at]));
    const said = new Map<number, number[]>();
    for (const user of this.nearest(met)) {
      const own = index.subarray(start[user], start[user + 1]);
      const at = Array.from(own, (item) => places.get(item)).filter((place) => place !== undefined);
      if (at.length > 0) said.set(user, at);
    }
    this.part(met);
    const damped = chosen.length ** -this.rule.damping;
    return Array.from(chosen, (item) => {
      const adds = new Float64Array(targets.length);
      const { from, to, step, says } = this.speakersOf(item, chosen.length);
      for (let entry = from; entry < to; entry += step) {
        const user = this.placed.usersOf.index[entry];
        const near = says * this.ofUser[user] * damped;
        for (const at of said.get(user) ?? []) adds[at] += near * this.ofScore[targets[at]];
      }
      return adds;
    });
  }

  /** Reckons how near the users are who chose the same; `part` ends it. */
  private meet(chosen: ArrayLike<number>): Uint32Array {
    const { ofUser } = this;
    const { run, nearness, met, usersOf } = this.placed;
    let length = 0;
    for (let at = 0; at < chosen.length; at++) {
      const { from, to, step, says } = this.speakersOf(chosen[at], chosen.length);
      // An item says nothing once all who chose it are forgotten.
      if (!(says > 0)) continue;
      length = run.meet(
        usersOf.index.byteOffset,
        from,
        to,
        step,
        says,
        nearness.byteOffset,
        met.byteOffset,
        length,
      );
    }
    const damped = chosen.length ** -this.rule.damping;
    for (let at = 0; at < length; at++) {
      const user = met[at];
      nearness[user] = nearness[user] * ofUser[user] * damped;
    }
    return met.subarray(0, length);
  }

  private part(met: Uint32Array): void {
    for (let at = 0; at < met.length; at++) this.placed.nearness[met[at]] = 0;
  }

  /** Which of an item's users speak, and what each says: of very many every other, or every third, speaks for all. */
  private speakersOf(item: number, chosen: number) {
    const { start } = this.placed.usersOf;
    const from = start[item] ?? 0;
    const to = start[item + 1] ?? from;
    const step = Math.max(1, Math.ceil((to - from) / Math.ceil(MOST_ENTRIES / chosen)));
    return { from, to, step, says: this.ofItem[item] * step };
  }

  /** Lets a user say nothing any more, as if he had never chosen anything. */
  forget(user: number): void {
    const { scale, itemExponent, popularityExponent } = this.rule;
    const { start, index } = this.itemsOf;
    this.ofUser[user] = 0;
    for (const item of index.subarray(start[user], start[user + 1])) {
      const count = this.counts[item] - 1;
      this.counts[item] = count;
      this.ofItem[item] = power(count, itemExponent);
      this.ofScore[item] = scale * power(count, popularityExponent);
    }
  }

  /** The users who are nearest, as many as there is time for. */
  private nearest(users: Uint32Array): Uint32Array {
    const { ordered } = this;
    const { nearness, kept, itemsOf } = this.placed;
    const { start } = itemsOf;
    let entries = 0;
    for (let at = 0; at < users.length; at++) {
      const user = users[at];
      entries += start[user + 1] - start[user];
      ordered[at] = nearness[user];
    }
    if (entries <= MOST_ENTRIES) return users;
    // Those above the nearness that leaves about as many entries as there is time for.
    const wanted = Math.ceil((users.length * MOST_ENTRIES) / entries);
    const least = nthLowest(ordered.subarray(0, users.length), users.length - wanted);
    let length = 0;
    for (let at = 0; at < users.length; at++) {
      const user = users[at];
      if (nearness[user] >= least) kept[length++] = user;
    }
    return kept.subarray(0, length);
  }
}

/**
 * The scales at which the best that neighbours say is one on the average of users, as it is with vectors, for each of
 * several exponents of popularity.
 */
export function scalesOf(
  of: Interactions,
  rule: Omit<NeighbourRule, "scale" | "popularityExponent">,
  exponents: readonly number[],
): number[] {
  const counts = itemCounts(of);
  const neighbours = new Neighbours(of, { ...rule, scale: 1, popularityExponent: 0 }, counts);
  const factors = exponents.map((exponent) => Float32Array.from(counts, (count) => power(count, exponent)));
  const sums = exponents.map(() => 0);
  const said = new Float32Array(of.items);
  let users = 0;
  for (let user = 0; user < of.users; user += Math.ceil(of.users / SCALED_BY)) {
    const own = of.index.subarray(of.start[user], of.start[user + 1]);
    if (own.length === 0) continue;
    said.fill(0);
    neighbours.add(said, own);
    for (const item of own) said[item] = 0;
    factors.forEach((factor, at) => {
      let best = 0;
      for (let item = 0; item < said.length; item++) best = Math.max(best, said[item] * factor[item]);
      sums[at] += best;
    });
    users++;
  }
  return sums.map((sum) => (sum > 0 ? users / sum : 0));
}

/** Users by whom the scale is found. */
const SCALED_BY = 64;

/** Returns count ** -exponent, and 0 for a count of 0. */
export function power(count: number, exponent: number): number {
  return count > 0 ? count ** -exponent : 0;
}
