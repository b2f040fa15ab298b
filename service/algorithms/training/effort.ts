/** How much work a training may do. */
export type Effort = keyof typeof efforts;

/** Limits of an effort. */
export interface Budget {
  /** Pairs that parameters are tried on. If there are more, a sample of the users is drawn; if fewer, several folds. */
  readonly pairs: number;
  /** The same limit if users have few items. A small sample would then leave most items with hardly any user. */
  readonly sparsePairs: number;
  /** Limit of the folds. */
  readonly folds: number;
  /** Pairs in all folds together. Each user and each item counts as several pairs. */
  readonly foldedPairs: number;
  /** Users that a trial measures, over all folds. */
  readonly users: number;
  /** Scores that a trial computes, over all folds: one for each user and item. */
  readonly scores: number;
  /** Pairs that a trial with neighbours reads, over all folds. */
  readonly neighbourPairs: number;
  /** Lengths of vectors to try, besides the one that most trials use. The longest comes first. */
  readonly dimensions: readonly number[];
  /** Numbers of epochs to try. */
  readonly epochs: readonly number[];
  /** Values of `damping` to try. */
  readonly dampings: readonly number[];
  /** Pairs that the final training learns from. If there are more, it learns from some users and folds in the rest. */
  readonly learnedPairs: number;
  /** Multiplications of the final training. A core does about four billion per second. */
  readonly multiplications: number;
}

/** The limits of all efforts. Nothing else decides how much is tried. */
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

/** The effort if none is given. */
export const DEFAULT_EFFORT: Effort = "balanced";
