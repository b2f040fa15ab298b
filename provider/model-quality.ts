import { isUncertain } from "../contract";
import { knownFields } from "./lifecycle/arguments";
import type { Context } from "./run/context";

/**
 * Quality figures that the training measured on held-out user-item pairs, which were not used to choose parameters.
 */
export interface Quality {
  /** Share of the held-out items that are among the top 20 recommendations. */
  readonly recallAt20?: number;
  /** NDCG of the top 20 recommendations. Like recall, but an item counts more if it ranks higher. */
  readonly ndcgAt20?: number;
  /** NDCG@20 of a baseline that recommends the most popular items to everyone. */
  readonly popularityNdcgAt20?: number;
  /** Recall@20 of a baseline that recommends the most popular items to everyone. */
  readonly popularityRecallAt20?: number;
  /** Number of held-out user-item pairs. With few pairs, the figures are uncertain. */
  readonly heldOutPairs?: number;
  /** Number of users with held-out pairs. None of these pairs was used to choose parameters. */
  readonly heldOutUsers?: number;
  /** Which pairs were held out: `latest` (the latest of each user), or `random` if events have no time. */
  readonly holdOut?: string;
  /**
   * Number of users from whose events the item vectors were learned, if there were too many events to use all of them.
   */
  readonly learnedOnUsers?: number;
  /** Total number of users. Users who are not among the `learnedOnUsers` were folded in. */
  readonly allUsers?: number;
  /** NDCG@20 without a ranker, measured on the users' latest pairs. */
  readonly unrankedNdcgAt20?: number;
  /**
   * NDCG@20 with this model as the ranker, measured like `unrankedNdcgAt20`. Both are equal if the gain is not
   * significant.
   */
  readonly rankedNdcgAt20?: number;
  /** Share of all items that are recommended to at least one of up to 1,000 users, in the top 20. */
  readonly coverageAt20?: number;
  /** Share of the recommendations for these users whose items have fewer than 5 users. */
  readonly coldItemsAt20?: number;
  /** Mean dissimilarity of a user's top 20 items: 0 if all are the same, about 1 if they have nothing in common. */
  readonly diversityAt20?: number;
  /**
   * Mean popularity rank of the recommendations for these users: 0 for the least popular item, 1 for the most popular.
   */
  readonly shownPopularityAt20?: number;
  /** Mean popularity rank of the items that these users have chosen themselves. */
  readonly chosenPopularity?: number;
}

/** Throws if the model does not reach the required quality, so it is not deployed. */
export function assertQuality(
  { ndcgAt20: measured, heldOutPairs }: Quality,
  modelId: string,
  { settings, title }: Context,
): void {
  const { minQuality } = settings;
  const floor = minQuality[title.slice("Model ".length)] ?? minQuality["*"];
  if (floor === undefined || (measured !== undefined && measured >= floor)) return;
  const was =
    measured === undefined
      ? "the service reported no quality"
      : `it has NDCG@20 ${measured.toFixed(4)}${isUncertain(heldOutPairs) ? " (uncertain)" : ""}`;
  throw new Error(
    `model ${modelId} is not good enough: ${was}, but recommender:minQuality requires at least ${floor.toFixed(4)}. ` +
      "Nothing was deployed. The model stays in its project, and the next `pulumi up` uses it without training again.",
  );
}

/** Formats the quality, such as `NDCG@20 0.412 (popularity 0.380) on 240 held-out pairs`. */
export function qualityText({ ndcgAt20, popularityNdcgAt20, heldOutPairs }: Quality): string | undefined {
  if (ndcgAt20 === undefined) return undefined;
  const baseline = popularityNdcgAt20 === undefined ? "" : ` (popularity ${popularityNdcgAt20.toFixed(3)})`;
  const pairs = heldOutPairs === 1 ? "1 held-out pair" : `${heldOutPairs ?? "the"} held-out pairs`;
  return `NDCG@20 ${ndcgAt20.toFixed(3)}${baseline} on ${pairs}${isUncertain(heldOutPairs) ? ": uncertain" : ""}`;
}

/** Returns the figures that the service reported, or undefined if there are none. */
export function knownFigures(quality: object | null | undefined): Quality | undefined {
  const known = knownFields(quality ?? {});
  return Object.keys(known).length > 0 ? known : undefined;
}
