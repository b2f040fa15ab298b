import { mean } from "../linear-algebra";
import { learnWeights } from "../ranking/logit";
import { type Ranking, ranked, unchanged } from "../ranking/ranking";
import { measure } from "./evaluation";
import type { TrainingReport } from "./model";
import { isSignificantGain } from "./paired-test";
import {
  type RankingData,
  type RankingList,
  rankingBasis,
  rankingGenerator,
  rankingLists,
} from "./ranking-lists";

const MIN_USERS = 50;
/** Weights that do not reorder lists. */
const NO_WEIGHTS: readonly number[] = [];

/**
 * Learns to rank a generator's candidates. The generator is trained without the latest pairs of each user, and the
 * ranking learns to put these pairs first. The ranking is used only if its gain is significant on users that the
 * weights were not learned from. The report is measured on users that have no part in this decision.
 */
export function learnRanking(data: RankingData): {
  readonly ranking: Ranking;
  readonly report: TrainingReport["ranking"];
} {
  const lists = data.interactions.time ? rankingLists(data, rankingGenerator(data)) : [];
  if (lists.length < MIN_USERS) return { ranking: unchanged(), report: null };
  const choosing = lists.filter(({ isReporting }) => !isReporting);
  const isGain = isSignificantGain(gainsOf(choosing));
  return {
    ranking: isGain ? { weights: learnWeights(lists), ...rankingBasis(data) } : unchanged(),
    report: reportOf(
      lists.filter(({ isReporting }) => isReporting),
      isGain ? learnWeights(choosing) : NO_WEIGHTS,
    ),
  };
}

/** Returns the NDCG gain of each list if it is ranked by weights that were learned from the other half of the lists. */
function gainsOf(lists: readonly RankingList[]): number[] {
  const halves = [0, 1].map((half) => lists.filter((_, at) => at % 2 === half));
  return halves.flatMap((half, at) => {
    const weights = learnWeights(halves[1 - at]);
    return half.map((list) => ndcgOf(list, weights) - ndcgOf(list, NO_WEIGHTS));
  });
}

function reportOf(lists: readonly RankingList[], weights: readonly number[]): TrainingReport["ranking"] {
  if (lists.length === 0) return null;
  const ndcg20 = (by: readonly number[]) => mean(lists.map((list) => ndcgOf(list, by)));
  return { ndcg20: ndcg20(weights), without: ndcg20(NO_WEIGHTS) };
}

function ndcgOf({ items, features, wanted }: RankingList, weights: readonly number[]): number {
  return measure(ranked(items, features, weights), wanted).ndcg20;
}
