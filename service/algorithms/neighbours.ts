import { allocateMarks, eachMarked, paddedBlocks } from "./blocks";
import { type Interactions, itemCounts, rowOf, transpose } from "./interactions";
import { arrayBytes, Kernel, type KernelExports } from "./kernel";
import { nthLowest } from "./top";

/**
 * How the items of similar users add to the scores. This is the linear part of a graph filter, r · R̃ᵀR̃, in which each
 * of the four degrees has a separate exponent.
 */
export interface NeighbourRule {
  /** Factor of all scores. */
  readonly scale: number;
  /** Each item of a user with n items has the weight n^-damping. */
  readonly damping: number;
  /** In the similarity of two users, an item that n users chose has the weight n^-itemExponent. */
  readonly itemExponent: number;
  /** A similar user with n items has the weight n^-userExponent. */
  readonly userExponent: number;
  /** The score of an item that n users chose is multiplied by n^-popularityExponent. */
  readonly popularityExponent: number;
  /**
   * The similarity of two users, including the weights above, is raised to this power. Above 1, a user who shares
   * several items counts more than several users who share one item each. Absent if it is 1.
   */
  readonly similarityExponent?: number | undefined;
}

/**
 * Maximum number of pairs that one recommendation reads, once from items to users and once from users to items. That
 * takes a tenth of a millisecond. On Gowalla, Epinions and MovieLens 1M, five times as many did not improve the lists.
 */
export const MOST_ENTRIES = 60_000;

type Rows = Pick<Interactions, "start" | "index">;

/** Sparse rows and work arrays in a kernel's memory. */
export interface PlacedRows {
  readonly run: KernelExports;
  /** The items of each user. */
  readonly itemsOf: Rows;
  /** The users of each item. */
  readonly usersOf: Rows;
  /** Similarity of each user. All zero before and after each call. */
  readonly similarity: Float32Array;
  /**
   * Users whose similarity is not zero. The array is one element longer than needed, because the kernel writes ahead.
   */
  readonly touched: Uint32Array;
  readonly nearest: Uint32Array;
  /** Sum of each item, in whole blocks. All zero before the first call. */
  readonly sums: Float32Array;
  /** Blocks with sums. None before the first call. */
  readonly marked: Uint8Array;
  /** Factor for the sum of each item, in whole blocks. */
  readonly factors: Float32Array;
}

function placeRows(interactions: Interactions): PlacedRows {
  const { users, items, index } = interactions;
  const rows = [users + 1, items + 1, index.length, index.length];
  const [padded, marks] = [paddedBlocks(items), allocateMarks(items).length];
  const lengths = [...rows, users, users + 1, users, padded, Math.ceil(marks / 4), padded];
  const kernel = new Kernel(lengths.reduce((sum, length) => sum + arrayBytes(length), 0));
  const placed = (rows: Rows): Rows => {
    const start = kernel.integers(rows.start.length);
    const indices = kernel.integers(index.length);
    start.set(rows.start);
    indices.set(rows.index);
    return { start, index: indices };
  };
  return {
    run: kernel.run,
    itemsOf: placed(interactions),
    usersOf: placed(transpose(interactions)),
    similarity: kernel.floats(users),
    touched: kernel.integers(users + 1),
    nearest: kernel.integers(users),
    sums: kernel.floats(padded),
    marked: new Uint8Array(kernel.memory.buffer, kernel.floats(Math.ceil(marks / 4)).byteOffset, marks),
    factors: kernel.floats(padded),
  };
}

/** Scores items by the choices of similar users: those who chose the same items. */
export class Neighbours {
  private readonly itemFactors: Float32Array;
  private readonly userFactors: Float32Array;
  private readonly ordered: Float32Array;

  constructor(
    interactions: Interactions,
    private readonly rule: NeighbourRule,
    /** Number of users of each item. Must be given if the interactions are a sample of the users. */
    private readonly counts = itemCounts(interactions),
    /** Rows that are already in a kernel's memory, to avoid a copy. */
    private readonly placed = placeRows(interactions),
  ) {
    const { users, start } = interactions;
    this.itemFactors = Float32Array.from(this.counts, (count) => power(count, rule.itemExponent));
    this.counts.forEach((count, item) => {
      placed.factors[item] = rule.scale * power(count, rule.popularityExponent);
    });
    this.userFactors = Float32Array.from({ length: users }, (_, user) =>
      power(start[user + 1] - start[user], rule.userExponent),
    );
    this.ordered = new Float32Array(users);
  }

  /** The items of each user. */
  get itemsOf(): Rows {
    return this.placed.itemsOf;
  }

  /** Adds to `scores` what similar users contribute for a user who chose the given items. */
  add(scores: Float32Array, chosen: ArrayLike<number>): void {
    const { marked, sums } = this.scores(chosen);
    eachMarked(marked, (from, to) => {
      const end = Math.min(to, scores.length);
      for (let item = from; item < end; item++) scores[item] += sums[item];
    });
  }

  /**
   * Returns what similar users contribute to the score of each item, and the blocks of items with contributions. The next
   * call overwrites the arrays.
   */
  scores(chosen: ArrayLike<number>): Pick<PlacedRows, "sums" | "marked"> {
    const { run, itemsOf, similarity, sums, marked, factors } = this.placed;
    eachMarked(marked, (from, to) => sums.fill(0, from, to));
    marked.fill(0);
    const touched = this.addSimilarities(chosen);
    const users = this.nearest(touched);
    run.addEntries(
      users.byteOffset,
      users.length,
      itemsOf.start.byteOffset,
      itemsOf.index.byteOffset,
      similarity.byteOffset,
      sums.byteOffset,
      marked.byteOffset,
    );
    run.multiplyMarked(sums.byteOffset, factors.byteOffset, marked.byteOffset, marked.length);
    this.resetSimilarities(touched);
    return { sums, marked };
  }

  /**
   * Returns how much each chosen item adds to the score of each target. Summed over the chosen items, it is what `add`
   * adds.
   */
  contributions(chosen: ArrayLike<number>, targets: readonly number[]): Float64Array[] {
    const touched = this.addSimilarities(chosen);
    const places = new Map(targets.map((item, at) => [item, at]));
    const targetsOf = new Map<number, number[]>();
    for (const user of this.nearest(touched)) {
      const own = rowOf(this.itemsOf, user);
      const at = Array.from(own, (item) => places.get(item)).filter((place) => place !== undefined);
      if (at.length > 0) targetsOf.set(user, at);
    }
    this.resetSimilarities(touched);
    const damped = chosen.length ** -this.rule.damping;
    const factorOf = this.sharpening(chosen, damped);
    return Array.from(chosen, (item) => {
      const adds = new Float64Array(targets.length);
      const { from, to, step, weight } = this.sampledUsers(item, chosen.length);
      for (let entry = from; entry < to; entry += step) {
        const user = this.placed.usersOf.index[entry];
        const similarity = weight * this.userFactors[user] * damped * factorOf(user);
        for (const at of targetsOf.get(user) ?? []) adds[at] += similarity * this.placed.factors[targets[at]];
      }
      return adds;
    });
  }

  /**
   * Computes the similarity of all users who chose at least one of the items. Call `resetSimilarities` afterwards.
   * @returns the users with a similarity
   */
  private addSimilarities(chosen: ArrayLike<number>): Uint32Array {
    const { userFactors } = this;
    const { run, similarity, touched, usersOf } = this.placed;
    let length = 0;
    for (let at = 0; at < chosen.length; at++) {
      const { from, to, step, weight } = this.sampledUsers(chosen[at], chosen.length);
      // The weight is zero if all users of the item are forgotten.
      if (!(weight > 0)) continue;
      length = run.accumulate(
        usersOf.index.byteOffset,
        from,
        to,
        step,
        weight,
        similarity.byteOffset,
        touched.byteOffset,
        length,
      );
    }
    const { similarityExponent = 1 } = this.rule;
    const damped = chosen.length ** -this.rule.damping;
    for (let at = 0; at < length; at++) {
      const user = touched[at];
      const linear = similarity[user] * userFactors[user] * damped;
      similarity[user] = similarityExponent === 1 ? linear : raised(linear, similarityExponent);
    }
    return touched.subarray(0, length);
  }

  /**
   * Returns the factor by which the similarity exponent changes a user's similarity. A power of a sum is not a sum over
   * the chosen items, so each of them gets the share that it has in the sum.
   */
  private sharpening(chosen: ArrayLike<number>, damped: number): (user: number) => number {
    const { similarityExponent = 1 } = this.rule;
    if (similarityExponent === 1) return () => 1;
    const sums = new Map<number, number>();
    for (let at = 0; at < chosen.length; at++) {
      const { from, to, step, weight } = this.sampledUsers(chosen[at], chosen.length);
      for (let entry = from; entry < to; entry += step) {
        const user = this.placed.usersOf.index[entry];
        sums.set(user, (sums.get(user) ?? 0) + weight);
      }
    }
    return (user) => ((sums.get(user) ?? 0) * this.userFactors[user] * damped) ** (similarityExponent - 1);
  }

  private resetSimilarities(touched: Uint32Array): void {
    for (let at = 0; at < touched.length; at++) this.placed.similarity[touched[at]] = 0;
  }

  /**
   * Returns the range of an item's users. If there are very many, only every step-th user is read, with a higher
   * weight.
   */
  private sampledUsers(item: number, chosen: number) {
    const { start } = this.placed.usersOf;
    const from = start[item] ?? 0;
    const to = start[item + 1] ?? from;
    const step = Math.max(1, Math.ceil((to - from) / Math.ceil(MOST_ENTRIES / chosen)));
    return { from, to, step, weight: this.itemFactors[item] * step };
  }

  /** Removes a user's influence, as if the user had never chosen anything. */
  forget(user: number): void {
    const { scale, itemExponent, popularityExponent } = this.rule;
    this.userFactors[user] = 0;
    for (const item of rowOf(this.itemsOf, user)) {
      this.counts[item] -= 1;
      this.itemFactors[item] = power(this.counts[item], itemExponent);
      this.placed.factors[item] = scale * power(this.counts[item], popularityExponent);
    }
  }

  /** Returns the most similar users: as many as have about `MOST_ENTRIES` items in total. */
  private nearest(users: Uint32Array): Uint32Array {
    const { ordered } = this;
    const { similarity, nearest, itemsOf } = this.placed;
    const { start } = itemsOf;
    let entries = 0;
    for (let at = 0; at < users.length; at++) {
      const user = users[at];
      entries += start[user + 1] - start[user];
      ordered[at] = similarity[user];
    }
    if (entries <= MOST_ENTRIES) return users;
    const wanted = Math.ceil((users.length * MOST_ENTRIES) / entries);
    const lowest = nthLowest(ordered.subarray(0, users.length), users.length - wanted);
    let length = 0;
    for (let at = 0; at < users.length; at++) {
      const user = users[at];
      if (similarity[user] >= lowest) nearest[length++] = user;
    }
    return nearest.subarray(0, length);
  }
}

/** Returns value ** exponent. Fast for the exponent that trainings try, because each answer raises thousands of values. */
function raised(value: number, exponent: number): number {
  return exponent === 1.5 ? value * Math.sqrt(value) : value ** exponent;
}

/** Returns count ** -exponent, and 0 for a count of 0. */
export function power(count: number, exponent: number): number {
  return count > 0 ? count ** -exponent : 0;
}
