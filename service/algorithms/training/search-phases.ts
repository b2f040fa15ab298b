import type { Budget } from "./effort";
import { WORTHWHILE } from "./evaluation";
import type { G1Parameters } from "./model";
import type { NeighbourPoint, Point } from "./point";
import { type SearchTrials, type Step, strengthBy } from "./search-trials";

/** Parameters and limits that all phases of a search share. */
export interface SearchContext {
  readonly given: G1Parameters;
  readonly budget: Budget;
  readonly trials: SearchTrials;
  /** Vector lengths to try in addition to the one of the other phases, longest first. */
  readonly dimensions: readonly number[];
  /** Whether the pairs have different weights. */
  readonly hasWeights: boolean;
}

/** State that a phase passes to the next phase. */
interface SearchState {
  readonly best: Point;
  /** Points with different damping, the preferred one first. They are compared once per vector length. */
  readonly candidates: readonly Point[];
}

interface Phase {
  /**
   * Parameters that the phase chooses. The phase is skipped if all of them are given; "always" means that it is never
   * skipped.
   */
  readonly chooses: readonly (keyof G1Parameters)[] | "always";
  run(state: SearchState, context: SearchContext): SearchState;
}

/** Factor by which a coarse step changes the regularization strength. */
const COARSE = 1.7;

/** If unobserved pairs weigh more, less regularization is needed, so both change together. */
const balanceStep: Step = (from, direction) => {
  const strength = from.strength * 1.4 ** -direction;
  return strength > 1 ? null : { ...from, strength, balance: from.balance * 3 ** direction };
};

/** The phases of the search, in order. */
const PHASES: readonly Phase[] = [
  { chooses: ["regularization"], run: walkWith(strengthBy(COARSE)) },
  { chooses: ["alpha"], run: walkWith(balanceStep) },
  { chooses: ["neighbours", "popularityExponent"], run: chooseNeighbours },
  { chooses: ["regularization", "weighting"], run: chooseWeighting },
  { chooses: ["damping"], run: addDampings },
  { chooses: "always", run: chooseDimensions },
  { chooses: ["regularization"], run: weakenRegularization },
  { chooses: ["neighbours", "popularityExponent"], run: chooseNeighbours },
  { chooses: ["neighbours", "popularityExponent"], run: sharpenSimilarity },
];

/** Runs all phases that have something to choose. */
export function runPhases(first: Point, context: SearchContext): Point {
  let state = single(first);
  for (const { chooses, run } of PHASES) {
    if (chooses === "always" || chooses.some((name) => context.given[name] === undefined))
      state = run(state, context);
  }
  return state.best;
}

function walkWith(step: Step): Phase["run"] {
  return ({ best }, { trials }) => single(trials.walk(best, step));
}

/** Neighbour weights to try, and factors for finer steps around the best weight. */
const SHARES = [0, 0.125, 0.25, 0.5, 1, 2, 4, 8];
const FINER = [0.5, 0.7, 1, 1.4, 2];

/** Popularity exponents to try. */
const POPULARITY_EXPONENTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/** Factor by which another popularity exponent must be better than the default, which is best on most data. */
const CERTAIN = 1.01;

/**
 * Exponents to try together, found on Gowalla and Epinions. Items that similar users chose by chance are mostly popular
 * ones. With the power they count less, so popular items need less holding back.
 */
const SHARPER = { similarityExponent: 1.5, popularityExponent: 0.3 };

function chooseNeighbours({ best }: SearchState, context: SearchContext): SearchState {
  return single({ ...best, neighbours: bestNeighbours(best, context) });
}

function bestNeighbours(from: Point, { given, trials }: SearchContext): NeighbourPoint {
  const { popularityExponent } = from.neighbours;
  const shares = given.neighbours === undefined ? SHARES : [given.neighbours];
  // In a sample of the users, all items have fewer users than in the full data, so a sample cannot choose the exponent.
  const isExponentFixed = given.popularityExponent !== undefined || trials.bench.isSample;
  const exponents = isExponentFixed ? [popularityExponent] : POPULARITY_EXPONENTS;
  if (shares.length * exponents.length === 1 || given.neighbours === 0) return from.neighbours;
  const { best: byShare } = trials.bestNeighbours(
    from,
    shares.map((share) => ({ ...from.neighbours, share })),
  );
  if (byShare.share === 0) return byShare;
  const other = trials.bestNeighbours(
    from,
    exponents.map((exponent) => ({ ...byShare, popularityExponent: exponent })),
  );
  const byExponent =
    other.ndcg > trials.bestNeighbours(from, [byShare]).ndcg * CERTAIN ? other.best : byShare;
  const finer = trials.bestNeighbours(
    from,
    shares.length === 1
      ? [byExponent]
      : FINER.map((factor) => ({ ...byExponent, share: byExponent.share * factor })),
  );
  const without = { ...byShare, share: 0 };
  const isBetter =
    shares.length === 1 || finer.ndcg > trials.bestNeighbours(from, [without]).ndcg * WORTHWHILE;
  return isBetter ? finer.best : without;
}

/**
 * Raises the similarities to a power if this finds more held-out items. On sparse data, most users who share one item do
 * so by chance, and the power holds them back.
 */
function sharpenSimilarity({ best }: SearchState, { given, trials }: SearchContext): SearchState {
  const { neighbours } = best;
  if (neighbours.share === 0 || given.similarityExponent !== undefined) return single(best);
  const factors = given.neighbours === undefined ? FINER : [1];
  const sharper = trials.bestNeighbours(
    best,
    factors.map((factor) => ({
      share: neighbours.share * factor,
      popularityExponent: given.popularityExponent ?? SHARPER.popularityExponent,
      similarityExponent: SHARPER.similarityExponent,
    })),
  );
  const isBetter = sharper.ndcg > trials.bestNeighbours(best, [neighbours]).ndcg * WORTHWHILE;
  return single(isBetter ? { ...best, neighbours: sharper.best } : best);
}

function chooseWeighting(state: SearchState, { given, trials, hasWeights }: SearchContext): SearchState {
  let peak = trials.climb(state.best);
  if (given.weighting === undefined && hasWeights) {
    const other = trials.climb({ ...state.best, weighting: "linear" });
    if (other.ndcg() > peak.ndcg()) peak = other;
  }
  return { ...state, candidates: [peak.point] };
}

/** Adds points with damping. Which one is best depends on the dimensions, so a later phase compares them. */
function addDampings({ best, candidates }: SearchState, { budget, trials }: SearchContext): SearchState {
  const [peak] = candidates;
  // With neighbours, damping makes little difference, so only the smallest value is tried, and preferred to none.
  const points =
    best.neighbours.share > 0
      ? [...budget.dampings.slice(0, 1).map((damping) => ({ ...peak, damping })), peak]
      : [
          peak,
          ...budget.dampings.map(
            (damping) => trials.climb({ ...best, weighting: peak.weighting, damping }).point,
          ),
        ];
  return { best, candidates: points };
}

/**
 * Longer vectors are chosen if their NDCG is above this share of the NDCG of shorter vectors. With the right
 * regularization, a smaller loss is only noise.
 */
const TOLERABLE = 0.99;

/**
 * The same share for trials on a sample, where longer vectors do worse than on all users. On a quarter of Gowalla,
 * vectors of twice the length lose what they gain on all users.
 */
const TOLERABLE_OF_SAMPLE = 0.95;

/** Chooses the damping at the vector length of the trials, then the longest vectors that lose little quality. */
function chooseDimensions({ best: from, candidates }: SearchState, context: SearchContext): SearchState {
  const { given, trials, dimensions } = context;
  const bestAt = (length: number, among: readonly Point[]): Point =>
    among
      .map((point) => ({ ...point, dimensions: length }))
      .reduce((simpler, other) => (trials.ndcg(other) > trials.ndcg(simpler) * WORTHWHILE ? other : simpler));
  const best = bestAt(given.dimensions ?? from.dimensions, candidates);
  const among = best.neighbours.share > 0 ? [best] : candidates;
  const tolerable = trials.bench.isSample ? TOLERABLE_OF_SAMPLE : TOLERABLE;
  for (const length of dimensions) {
    const longer = bestAt(length, among);
    if (trials.ndcg(longer) > trials.ndcg(best) * tolerable) return single(longer);
  }
  return single(best);
}

/**
 * Lowers the regularization as long as this improves the NDCG. Longer vectors need less of it if they are combined with
 * neighbours.
 */
function weakenRegularization({ best }: SearchState, { trials }: SearchContext): SearchState {
  if (best.neighbours.share === 0) return single(best);
  const step = strengthBy(COARSE);
  return single(trials.walk(best, (from, direction) => (direction < 0 ? step(from, direction) : null)));
}

function single(best: Point): SearchState {
  return { best, candidates: [best] };
}
