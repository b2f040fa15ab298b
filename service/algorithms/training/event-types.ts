import { type EventRule, type EventWeights, type TypedPairs, weighted } from "../event-weights";
import type { Interactions } from "../interactions";
import { DEFAULT_EFFORT, efforts } from "./effort";
import { type Quality, WORTHWHILE } from "./evaluation";
import type { G1Parameters } from "./model";
import { firstPoint, SEARCH_DIMENSIONS } from "./point";
import { reportUsersOf } from "./report-users";
import { TRIAL_EPOCHS } from "./search-trials";
import { singleThread, type Team } from "./team";
import { TrialBench } from "./trial";

/**
 * Weights to try for each event type besides the target. With the first weight, both values of `recommendSeen` are
 * tried.
 */
const WEIGHTS = [0.1, 0.03, 0.3, 1];
/** Maximum number of event types whose weights are searched. The types with the most pairs are chosen. */
const MAX_TYPES = 3;

interface TriedRule extends EventRule {
  readonly ndcg: number;
}

/**
 * Chooses the weights of the other event types, one type after another, and the value of `recommendSeen`. Compares them
 * by the quality on held-out pairs of the target event.
 */
export function searchEventRule(
  target: Interactions,
  others: readonly TypedPairs[],
  given: G1Parameters,
  team: Team = singleThread,
  onTrial: (fraction: number, quality: Quality) => void = () => {},
  reportUsers = reportUsersOf(target),
): EventRule {
  const types = others
    .filter(({ type, interactions }) => interactions.index.length > 0 && given.eventWeights?.[type] !== 0)
    .sort((a, b) => b.interactions.index.length - a.interactions.index.length || (a.type < b.type ? -1 : 1))
    .slice(0, given.eventWeights ? others.length : MAX_TYPES);
  const modes = given.recommendSeen === undefined ? [true, false] : [given.recommendSeen];
  const fixed = { weights: given.eventWeights ?? {}, recommendSeen: modes[0] };
  if (types.length === 0) return fixed;

  const budget = efforts[given.effort ?? DEFAULT_EFFORT];
  const pairs = types.reduce((sum, { interactions }) => sum + interactions.index.length, target.index.length);
  const expected = given.eventWeights ? modes.length : modes.length + WEIGHTS.length * types.length;
  let trials = 0;
  let quality: Quality = { recall20: 0, ndcg20: 0 };
  const tried = (weights: EventWeights, recommendSeen: boolean): TriedRule => {
    const bench = new TrialBench({
      interactions: target,
      given,
      maxDimensions: SEARCH_DIMENSIONS,
      budget,
      team,
      others: { pairs: weighted(types, weights), recommendSeen },
      pairs,
      reportUsers,
    });
    if (!bench.possible) return { weights, recommendSeen, ndcg: 0 };
    const [found] = bench.trace(firstPoint(given), [TRIAL_EPOCHS]);
    if (found.ndcg20 > quality.ndcg20) quality = found;
    onTrial(Math.min(1, ++trials / expected), quality);
    return { weights, recommendSeen, ndcg: found.ndcg20 };
  };
  /** Returns the better value of `recommendSeen`; true if both are nearly equally good. */
  const bestMode = (weights: EventWeights, among: readonly boolean[]) =>
    among
      .map((recommendSeen) => tried(weights, recommendSeen))
      .reduce((a, b) => (b.ndcg > a.ndcg * WORTHWHILE ? b : a));

  if (given.eventWeights) return modes.length === 1 ? fixed : bestMode(fixed.weights, modes);
  let best = tried({}, true);
  for (const { type } of types) {
    let among = Object.keys(best.weights).length === 0 ? modes : [best.recommendSeen];
    for (const weight of WEIGHTS) {
      const found = bestMode({ ...best.weights, [type]: weight }, among);
      among = [found.recommendSeen];
      if (found.ndcg > best.ndcg * WORTHWHILE) best = found;
    }
  }
  return best;
}
