/** How much work a training may do. */
export type Effort = keyof typeof efforts;

/** Limits of an effort. */
export interface Budget {
  /** Maximum number of pairs that parameters are tried on. If there are more, the trials use a sample of the users. */
  readonly pairs: number;
  /** Replaces `pairs` if users have few items. A smaller sample would leave most items with hardly any users. */
  readonly sparsePairs: number;
  /** Maximum number of folds. */
  readonly folds: number;
  /** Maximum number of pairs in all folds together. Each user and each item is counted as several pairs. */
  readonly foldedPairs: number;
  /** Maximum number of users that a trial measures in all folds together. */
  readonly users: number;
  /** Maximum number of scores that a trial computes in all folds together: one per measured user and item. */
  readonly scores: number;
  /** Maximum number of pairs that a trial with neighbours reads in all folds together. */
  readonly neighbourPairs: number;
  /** Vector lengths to try in addition to the one that most trials use, longest first. */
  readonly dimensions: readonly number[];
  /** Numbers of epochs to try. */
  readonly epochs: readonly number[];
  /** Values of `damping` to try. */
  readonly dampings: readonly number[];
  /**
   * Maximum number of pairs that the final training learns from. If there are more, it learns the item vectors from a
   * sample of the users, and folds in the other users.
   */
  readonly learnedPairs: number;
  /** Maximum number of multiplications in the final training. A core does about four billion per second. */
  readonly multiplications: number;
}

/** The limits of each effort. */
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
