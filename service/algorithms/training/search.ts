import type { Interactions } from "../interactions";
import type { OrderSetting } from "../order/basis";
import { type Budget, DEFAULT_EFFORT, efforts } from "./effort";
import type { Quality } from "./evaluation";
import type { OtherEvents } from "./folds";
import type { G1Parameters, TrainingReport } from "./model";
import { orderForAllData } from "./order-search";
import { firstPoint, forAllData, type Point, SEARCH_DIMENSIONS } from "./point";
import type { ReportUsers } from "./report-users";
import { massOf } from "./scale";
import { runPhases } from "./search-phases";
import { firstNearlyBest, type OnTrial, SearchTrials } from "./search-trials";
import { singleThread, type Team } from "./team";
import { TrialBench } from "./trial";

/** Parameters that a search has chosen, and their quality. */
export interface SearchResult {
  readonly point: Point;
  readonly epochs: number;
  /** How the order of events counts; null if it does not. */
  readonly order: OrderSetting | null;
  readonly report: TrainingReport;
}

const TYPICAL_EPOCHS = 8;

/**
 * Chooses the parameters that are not given, one after another, by their quality on held-out pairs. The report is
 * measured on users that no trial has used. On the users of the trials, the best of many trials would look better than
 * it is.
 */
export function searchParameters(
  interactions: Interactions,
  given: G1Parameters,
  onTrial: OnTrial,
  team: Team = singleThread,
  others?: OtherEvents,
  reportUsers?: ReportUsers,
): SearchResult {
  const mass = massOf(interactions);
  const budget = efforts[given.effort ?? DEFAULT_EFFORT];
  const isAffordable = (dimensions: number, epochs: number) =>
    multiplications(interactions, others?.pairs ?? null, dimensions, epochs, budget.learnedPairs) <=
    budget.multiplications;
  const affordable = budget.dimensions.filter(
    (dimensions) =>
      dimensions * 4 <= Math.min(mass.users, mass.items) && isAffordable(dimensions, TYPICAL_EPOCHS),
  );
  const maxDimensions = Math.max(
    SEARCH_DIMENSIONS,
    ...(given.dimensions === undefined ? affordable : [given.dimensions]),
  );
  const bench = new TrialBench({ interactions, given, maxDimensions, budget, team, others, reportUsers });
  const first = firstPoint(given);
  if (!bench.possible) {
    const point = { ...first, dimensions: given.dimensions ?? first.dimensions };
    const epochs = given.epochs ?? TYPICAL_EPOCHS;
    return { point, epochs, order: null, report: { ...bench.report(point, epochs), trials: 0 } };
  }
  const best = runPhases(first, {
    given,
    budget,
    trials: new SearchTrials(bench, given, onTrial),
    dimensions: given.dimensions === undefined ? affordable : [],
    hasWeights: interactions.weight.some((weight) => weight !== interactions.weight[0]),
  });
  const candidates =
    given.epochs === undefined ? epochsFor(best, bench, budget, isAffordable) : [given.epochs];
  const reports = new Map<number, Quality>();
  const qualities = bench.trace(best, candidates, reports);
  const chosen = firstNearlyBest(qualities);
  const epochs = candidates[chosen];
  onTrial(1, qualities[chosen], bench.trials);
  const orderTrials = bench.orderTrials(best, epochs);
  const order = orderTrials?.choose(given.order) ?? null;
  const quality = orderTrials && order ? bench.reportedOrder(orderTrials, order, best) : reports.get(epochs);
  return {
    point: forAllData(best),
    epochs,
    order: order && given.order === undefined ? orderForAllData(order) : order,
    report: { ...bench.report(best, epochs, quality), trials: bench.trials.length },
  };
}

/**
 * Returns the numbers of epochs to try. A sample needs fewer epochs than all users do, so trials on a sample cannot
 * choose. Then the highest affordable number is used.
 */
function epochsFor(
  { dimensions }: Point,
  { isSample }: TrialBench,
  budget: Budget,
  isAffordable: (dimensions: number, epochs: number) => boolean,
): readonly number[] {
  if (!isSample) return budget.epochs;
  return budget.epochs.filter((epochs, at) => at === 0 || isAffordable(dimensions, epochs)).slice(-1);
}

/** Estimates the multiplications of the final training. */
function multiplications(
  { users, items, index }: Interactions,
  others: Interactions | null,
  dimensions: number,
  epochs: number,
  learnedPairs: number,
): number {
  const pairs = index.length + (others?.index.length ?? 0);
  const share = Math.min(1, learnedPairs / pairs);
  return epochs * (share * pairs * dimensions * 16 + (share * users + items) * dimensions ** 2 * 3);
}
