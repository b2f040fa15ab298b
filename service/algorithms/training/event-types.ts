import { type EventRule, type EventWeights, type TypedPairs, weighted } from "../event-weights";
import type { Interactions } from "../interactions";
import { DEFAULT_EFFORT, efforts } from "./effort";
import type { Quality } from "./evaluation";
import type { G1Parameters } from "./model";
import { reportUsersOf } from "./report-users";
import { firstPoint, SEARCH_DIMENSIONS, TRIAL_EPOCHS, WORTHWHILE } from "./search";
import { alone, type Team } from "./team";
import { TrialBench } from "./trial";

/** What an event of another type may weigh; the first is tried both with and without what a user has seen. */
const WEIGHTS = [0.1, 0.03, 0.3, 1];
/** Types whose weight is searched for, those with the most pairs. */
const MOST_TYPES = 3;

/**
 * Chooses what events of other types weigh, one type after another, and whether what a user has of them alone is
 * recommended to him, by what that gains on a hold-out of the target event.
 */
export function searchEventRule(
  target: Interactions,
  others: readonly TypedPairs[],
  given: G1Parameters,
  team: Team = alone,
  onTrial: (fraction: number, quality: Quality) => void = () => {},
  reportUsers = reportUsersOf(target),
): EventRule {
  const most = others
    .filter(({ type, interactions }) => interactions.index.length > 0 && given.eventWeights?.[type] !== 0)
    .sort((a, b) => b.interactions.index.length - a.interactions.index.length || (a.type < b.type ? -1 : 1))
    .slice(0, given.eventWeights ? others.length : MOST_TYPES);
  const budget = efforts[given.effort ?? DEFAULT_EFFORT];
  const pairs = most.reduce((sum, { interactions }) => sum + interactions.index.length, target.index.length);
  const point = firstPoint(given);
  const modes = given.recommendSeen === undefined ? [true, false] : [given.recommendSeen];
  const expected = given.eventWeights ? modes.length : modes.length + WEIGHTS.length * most.length;
  let [trials, quality]: [number, Quality] = [0, { recall20: 0, ndcg20: 0 }];
  const gain = ({ weights, recommendSeen }: EventRule): number => {
    const also = { pairs: weighted(most, weights), recommendSeen };
    const bench = new TrialBench(target, given, SEARCH_DIMENSIONS, budget, team, also, pairs, reportUsers);
    if (!bench.possible) return 0;
    const [found] = bench.trace(point, [TRIAL_EPOCHS]);
    if (found.ndcg20 > quality.ndcg20) quality = found;
    onTrial(Math.min(1, ++trials / expected), quality);
    return found.ndcg20;
  };
  const tried = (weights: EventWeights, recommendSeen: boolean) => {
    const rule = { weights, recommendSeen };
    return { ...rule, gain: gain(rule) };
  };
  /** The way that gains most; where they are nearly the same, items that were seen are recommended. */
  const bestWay = (weights: EventWeights, ways: readonly boolean[]) =>
    ways
      .map((recommendSeen) => tried(weights, recommendSeen))
      .reduce((a, b) => (b.gain > a.gain * WORTHWHILE ? b : a));

  const fixed = { weights: given.eventWeights ?? {}, recommendSeen: modes[0] };
  if (most.length === 0) return fixed;
  if (given.eventWeights) return modes.length === 1 ? fixed : bestWay(fixed.weights, modes);
  let best = tried({}, true);
  for (const { type } of most) {
    let ways = Object.keys(best.weights).length === 0 ? modes : [best.recommendSeen];
    for (const weight of WEIGHTS) {
      const found = bestWay({ ...best.weights, [type]: weight }, ways);
      ways = [found.recommendSeen];
      if (found.gain > best.gain * WORTHWHILE) best = found;
    }
  }
  return best;
}
