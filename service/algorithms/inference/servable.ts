import { filterEntries, type Interactions, itemCounts } from "../interactions";
import type { TrainedModel } from "../training/model";

/** What is needed of a training's interactions to serve. */
export interface Learned {
  /** A number for each user that is the same as long as his pairs are; 0 without any. */
  readonly stamps: Float64Array;
  /** How many users had each item. */
  readonly itemUsers: Uint32Array;
  /** The pairs without their weights, where neighbours count, or those of some users where there are too many. */
  readonly pairs: Interactions | null;
  /** Of so many users one is in the pairs, and speaks for all of them. */
  readonly every: number;
}

/** Pairs that a served model has at most, 8 bytes each: its memory must not grow with the events. */
const MOST_PAIRS = 4_000_000;

/** A trained model without the interactions that it was trained on. */
export type ServableModel = Omit<TrainedModel, "interactions"> & { readonly learned: Learned };

/** A model as it is served. */
export function servable({ interactions, ...model }: TrainedModel, mostPairs = MOST_PAIRS): ServableModel {
  const every = Math.max(1, Math.ceil(interactions.index.length / mostPairs));
  const spoken = () =>
    every === 1 ? interactions : filterEntries(interactions, (_, user) => user % every === 0);
  const learned = {
    stamps: stampsOf(interactions),
    itemUsers: itemCounts(interactions),
    pairs: model.neighbours && { ...spoken(), weight: new Float32Array(0) },
    every,
  };
  return { ...model, learned };
}

function stampsOf({ users, start, index, weight }: Interactions): Float64Array {
  const stamps = new Float64Array(users);
  for (let user = 0; user < users; user++) {
    const [from, to] = [start[user], start[user + 1]];
    stamps[user] = stampOf(index.subarray(from, to), weight.subarray(from, to));
  }
  return stamps;
}

const weightAsFloat = new Float32Array(1);
const weightAsBits = new Uint32Array(weightAsFloat.buffer);

/** One number for the pairs of a user, in whatever order; 0 without any. Others have the same one time in 2^53. */
export function stampOf(items: ArrayLike<number>, weights: ArrayLike<number>): number {
  if (items.length === 0) return 0;
  let [low, high] = [items.length, 0];
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as number;
    weightAsFloat[0] = weights[at] as number;
    const bits = weightAsBits[0] as number;
    low = (low + mixed(Math.imul(item, 0x9e3779b1) ^ bits)) | 0;
    high = (high + mixed(Math.imul(bits, 0x85ebca6b) + item + 1)) | 0;
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}

/** Spreads every bit over all others (the last step of MurmurHash3). */
function mixed(bits: number): number {
  let hash = bits ^ (bits >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
