import type { Interactions } from "../interactions";
import { LAST, latestFirst } from "../order/rule";
import { stepsOf } from "../order/transitions";
import { NONE } from "../ranking/ranking";
import type { TrainedModel } from "../training/model";

/** Summary of the training's interactions that a served model needs. */
export interface Learned {
  /** Hash of each user's pairs, to recognize users whose events have not changed; 0 for a user without pairs. */
  readonly stamps: Float64Array;
  /** Number of users of each item. */
  readonly itemUsers: Uint32Array;
  /**
   * The pairs without weights, to find neighbours; null if the model uses none. If there are too many pairs, only those
   * of every n-th user.
   */
  readonly pairs: Interactions | null;
  /** The n in "every n-th user"; 1 if `pairs` contains the pairs of all users. */
  readonly every: number;
  /** The last items of each user; null if the model does not use the order of events. */
  readonly sequences: Sequences | null;
}

/** The last items of each user, latest first: `LAST` elements each, padded with `NONE`. */
export interface Sequences {
  readonly items: Uint32Array;
  /** The times of the items, in the unit of the model. */
  readonly steps: Uint32Array;
}

/** Maximum number of pairs in a served model, 8 bytes each, so its memory does not grow with the number of events. */
const MOST_PAIRS = 4_000_000;

/** A trained model without the interactions that it was trained on. */
export type ModelWithoutPairs = Omit<TrainedModel, "interactions">;

/** A trained model with a summary of its interactions instead of the interactions. */
export type ServableModel = ModelWithoutPairs & { readonly learned: Learned };

/** Converts a trained model to the form in which it is served. */
export function servable({ interactions, ...model }: TrainedModel, mostPairs = MOST_PAIRS): ServableModel {
  const { start, index, weight, items } = interactions;
  const learned = new LearnedBuilder(start, items, { ...model, mostPairs });
  const steps = model.order && stepsOf(interactions, model.order.rule);
  for (let user = 0; user < interactions.users; user++) {
    const [from, to] = [start[user], start[user + 1]];
    learned.add(index.subarray(from, to), weight.subarray(from, to), steps?.subarray(from, to));
  }
  return { ...model, learned };
}

/** Builds `Learned` one user at a time, so the interactions need not all be in memory at once. */
export class LearnedBuilder implements Learned {
  readonly stamps: Float64Array;
  readonly itemUsers: Uint32Array;
  readonly pairs: Interactions | null;
  readonly every: number;
  readonly sequences: Sequences | null;
  private users = 0;

  /** @param start the row starts of all users, as in Interactions */
  constructor(
    start: Uint32Array,
    items: number,
    {
      neighbours,
      order,
      mostPairs = MOST_PAIRS,
    }: Pick<TrainedModel, "neighbours" | "order"> & { readonly mostPairs?: number },
  ) {
    const users = start.length - 1;
    this.stamps = new Float64Array(users);
    this.itemUsers = new Uint32Array(items);
    this.every = Math.max(1, Math.ceil(start[users] / mostPairs));
    this.sequences = order
      ? { items: new Uint32Array(users * LAST).fill(NONE), steps: new Uint32Array(users * LAST) }
      : null;
    this.pairs = neighbours ? this.allocatePairs(start, items) : null;
  }

  /** Adds the pairs of the next user. `steps` are their times in the unit of the model. */
  add(index: Uint32Array, weight: Float32Array, steps?: Uint32Array): void {
    if (this.sequences && steps) this.addSequence(this.sequences, index, steps);
    const { stamps, itemUsers, pairs, every } = this;
    const user = this.users++;
    stamps[user] = stampOf(index, weight);
    for (const item of index) itemUsers[item] += 1;
    if (pairs && user % every === 0) pairs.index.set(index, pairs.start[user]);
  }

  private addSequence({ items, steps }: Sequences, index: Uint32Array, own: Uint32Array): void {
    const from = this.users * LAST;
    latestFirst(index, own)
      .subarray(0, LAST)
      .forEach((at, place) => {
        items[from + place] = index[at];
        steps[from + place] = own[at];
      });
  }

  /** Allocates arrays for the pairs of every n-th user, with n = `every`. */
  private allocatePairs(start: Uint32Array, items: number): Interactions {
    const users = start.length - 1;
    const own = new Uint32Array(users + 1);
    for (let user = 0; user < users; user++) {
      const length = user % this.every === 0 ? start[user + 1] - start[user] : 0;
      own[user + 1] = own[user] + length;
    }
    const index = new Uint32Array(own[users]);
    return { users, items, start: own, index, weight: new Float32Array(0) };
  }
}

const weightAsFloat = new Float32Array(1);
const weightAsBits = new Uint32Array(weightAsFloat.buffer);

/** Hashes the pairs of a user to 53 bits, independent of their order. Returns 0 if there are none. */
export function stampOf(items: ArrayLike<number>, weights: ArrayLike<number>): number {
  if (items.length === 0) return 0;
  let [low, high] = [items.length, 0];
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    weightAsFloat[0] = weights[at];
    const bits = weightAsBits[0];
    low = (low + mixed(Math.imul(item, 0x9e3779b1) ^ bits)) | 0;
    high = (high + mixed(Math.imul(bits, 0x85ebca6b) + item + 1)) | 0;
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}

/** Makes every output bit depend on all input bits (the finalizer of MurmurHash3). */
function mixed(bits: number): number {
  let hash = bits ^ (bits >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
