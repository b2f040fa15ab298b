/** How much work a training may take, from seconds to as long as it needs. */
export type Effort = keyof typeof efforts;

/** What an effort allows. */
export interface Budget {
  /** Pairs that parameters are tried on; of more, those of some users are drawn, of fewer, several hold-outs. */
  readonly pairs: number;
  /** The same where users have few items: there, with some of the users, most items would be hardly chosen by any. */
  readonly sparsePairs: number;
  /** The most hold-outs. */
  readonly folds: number;
  /** Pairs that all hold-outs together may have, each user and each item counted as some. */
  readonly foldedPairs: number;
  /** Users that a trial asks for, over all hold-outs. */
  readonly users: number;
  /** Scores that a trial computes, over all hold-outs: each user has one of each item. */
  readonly scores: number;
  /** Pairs that a trial of neighbours looks at, over all hold-outs. */
  readonly neighbourPairs: number;
  /** Lengths of vectors that are tried beyond those of the search, the longest first. */
  readonly dimensions: readonly number[];
  /** Passes over the data that are tried. */
  readonly epochs: readonly number[];
  /** How far the weights of users with many items are lowered where that is tried. */
  readonly dampings: readonly number[];
  /** Pairs that the final training learns from at most; of more, those of some users, and all others are folded in. */
  readonly learnedPairs: number;
  /** Multiplications that the final training may take; a core does some four billion in a second. */
  readonly multiplications: number;
}

/** The budgets of all efforts, and nothing else decides how much is tried. */
export const efforts = {
  quick: {
    pairs: 100_000,
    sparsePairs: 200_000,
    folds: 1,
    foldedPairs: 100_000,
    users: 1000,
    scores: 1e7,
    neighbourPairs: 2e7,
    dimensions: [64],
    epochs: [8],
    dampings: [],
    learnedPairs: 2_000_000,
    multiplications: 2e10,
  },
  balanced: {
    pairs: 300_000,
    sparsePairs: 1_000_000,
    folds: 4,
    foldedPairs: 450_000,
    users: 4000,
    scores: 5e7,
    neighbourPairs: 1e8,
    dimensions: [128, 64],
    epochs: [5, 8, 12],
    dampings: [0.25, 0.5],
    learnedPairs: 6_000_000,
    multiplications: 1.2e11,
  },
  thorough: {
    pairs: 3_000_000,
    sparsePairs: 10_000_000,
    folds: 8,
    foldedPairs: 5_000_000,
    users: 20_000,
    scores: 4e8,
    neighbourPairs: 2e9,
    dimensions: [512, 256, 128, 64],
    epochs: [5, 8, 12, 18],
    dampings: [0.25, 0.5],
    learnedPairs: 100_000_000,
    multiplications: 1e13,
  },
} as const satisfies Record<string, Budget>;

/** What counts where none is given. */
export const DEFAULT_EFFORT: Effort = "balanced";
