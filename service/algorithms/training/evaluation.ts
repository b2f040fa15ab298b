import { filterEntries, type Interactions } from "../interactions";
import { createRandom } from "../random";
import { topIndices } from "../top";

/** How well a ranking finds held-out items: the mean over all users with held-out items. */
export interface Quality {
  /** Share of a user's held-out items that are among the first 20. */
  readonly recall20: number;
  /** Normalized discounted cumulative gain (NDCG) of the first 20 items. */
  readonly ndcg20: number;
}

/** Interactions divided into a part to learn from and a held-out part. */
export interface HoldOut {
  readonly train: Interactions;
  readonly test: Interactions;
}

/** Length of the lists that are measured. */
export const CUTOFF = 20;

/** Factor by which a more complex model must be better than a simpler one to be chosen. */
export const WORTHWHILE = 1.003;

/** Holds out a random share of each user's items, at least one if the user has two or more. */
export function holdOut(
  of: Interactions,
  share: number,
  seed: number,
  /** Whether to hold out items of this user. */
  isHeld: (user: number) => boolean = () => true,
): HoldOut {
  const random = createRandom(seed);
  const held = new Uint8Array(of.index.length);
  for (let user = 0; user < of.users; user++) {
    const from = of.start[user];
    const count = of.start[user + 1] - from;
    if (count < 2 || !isHeld(user)) continue;
    const wanted = Math.max(1, Math.round(count * share));
    // Selection sampling (Knuth, algorithm S): all entries have the same chance.
    let left = wanted;
    for (let at = 0; at < count && left > 0; at++) {
      if (random.next() * (count - at) < left) {
        held[from + at] = 1;
        left--;
      }
    }
  }
  return {
    train: filterEntries(of, (entry) => held[entry] === 0),
    test: filterEntries(of, (entry) => held[entry] === 1),
  };
}

/** Measures how well the scores rank the held-out items of the given users. The users' other items are left out. */
export function evaluate(
  { train, test }: HoldOut,
  users: Iterable<number>,
  scoresOf: (user: number) => Float32Array,
): Quality {
  let recall = 0;
  let ndcg = 0;
  let counted = 0;
  for (const user of users) {
    const wanted = test.index.subarray(test.start[user], test.start[user + 1]);
    if (wanted.length === 0) continue;
    const scores = scoresOf(user);
    for (let at = train.start[user]; at < train.start[user + 1]; at++) {
      scores[train.index[at]] = Number.NEGATIVE_INFINITY;
    }
    const measured = measure(topIndices(scores, CUTOFF), wanted);
    recall += measured.recall20;
    ndcg += measured.ndcg20;
    counted++;
  }
  return { recall20: recall / Math.max(1, counted), ndcg20: ndcg / Math.max(1, counted) };
}

/** Measures one ranked list against the held-out items. */
export function measure(ranked: readonly number[], wanted: Uint32Array): Quality {
  const set = new Set(wanted);
  let hits = 0;
  let gain = 0;
  let ideal = 0;
  for (let rank = 0; rank < CUTOFF; rank++) {
    const discount = 1 / Math.log2(rank + 2);
    if (rank < wanted.length) ideal += discount;
    if (rank < ranked.length && set.has(ranked[rank])) {
      hits++;
      gain += discount;
    }
  }
  return { recall20: hits / wanted.length, ndcg20: gain / ideal };
}
