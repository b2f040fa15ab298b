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

const LEAST_USERS = 50;
/** Weights that leave every list in its order. */
const NONE: readonly number[] = [];

/**
 * Learns to rank the candidates of a generator that has not seen the latest pairs of each user, so that these come first.
 * The ranking is kept if its gain is significant for users whom its weights were not learned from. The report is measured
 * on users who have no part in that decision.
 */
export function learnRanking(data: RankingData): {
  readonly ranking: Ranking;
  readonly report: TrainingReport["ranking"];
} {
  const lists = data.interactions.time ? rankingLists(data, rankingGenerator(data)) : [];
  if (lists.length < LEAST_USERS) return { ranking: unchanged(), report: null };
  const choosing = lists.filter(({ isReporting }) => !isReporting);
  const isGain = isSignificantGain(gainsOf(choosing));
  return {
    ranking: isGain ? { weights: learnWeights(lists), ...rankingBasis(data) } : unchanged(),
    report: reportOf(
      lists.filter(({ isReporting }) => isReporting),
      isGain ? learnWeights(choosing) : NONE,
    ),
  };
}

/** What each list gains if it is put in the order of weights that were learned from the other half of the lists. */
function gainsOf(lists: readonly RankingList[]): number[] {
  const halves = [0, 1].map((half) => lists.filter((_, at) => at % 2 === half)) as [
    RankingList[],
    RankingList[],
  ];
  return halves.flatMap((half, at) => {
    const weights = learnWeights(halves[1 - at]);
    return half.map((list) => ndcgOf(list, weights) - ndcgOf(list, NONE));
  });
}

function reportOf(lists: readonly RankingList[], weights: readonly number[]): TrainingReport["ranking"] {
  if (lists.length === 0) return null;
  const ndcg20 = (by: readonly number[]) => mean(lists.map((list) => ndcgOf(list, by)));
  return { ndcg20: ndcg20(weights), without: ndcg20(NONE) };
}

function ndcgOf({ items, features, wanted }: RankingList, weights: readonly number[]): number {
  return measure(ranked(items, features, weights), wanted).ndcg20;
}
