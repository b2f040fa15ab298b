import type { Quality } from "./evaluation";
import { type Interactions, itemCounts } from "./interactions";
import type { G1Parameters, TrainingReport } from "./model";
import { massOf } from "./scale";
import { type Point, TrialBench } from "./trial";

/** What the search settled on. */
export interface Choice {
  readonly point: Point;
  readonly epochs: number;
  readonly report: TrainingReport;
}

interface Step {
  readonly balance?: number;
  readonly strength: number;
}

const COARSE: Step = { strength: 1.7 };
const FINE: Step = { strength: 1.3 };
/** The more the unobserved weighs, the less regularisation is needed: the two move together. */
const ALONG: Step = { balance: 3, strength: 1 / 1.4 };

const SEARCH_DIMENSIONS = 32;
const LARGER_DIMENSIONS = [64, 128];
const TRIAL_EPOCHS = 5;
const DAMPINGS = [0.25, 0.5];
const MOMENTS = [5, 8, 12];
const EXPECTED_TRIALS = 26;
const TYPICAL_EPOCHS = 8;
/** Multiplications that the final training may take: about half a minute on one core. */
const MAX_WORK = 1.5e11;

/** Chooses the parameters that are not given by walking uphill on a hold-out, one parameter after another. */
export function searchParameters(
  interactions: Interactions,
  given: G1Parameters,
  onTrial: (fraction: number) => void,
): Choice {
  const mass = massOf(interactions);
  const affordable = LARGER_DIMENSIONS.filter(
    (dimensions) =>
      dimensions * 4 <= Math.min(mass.users, mass.items) && workOf(interactions, dimensions) <= MAX_WORK,
  );
  const larger = given.dimensions === undefined ? affordable : [given.dimensions];
  const bench = new TrialBench(interactions, given, Math.max(SEARCH_DIMENSIONS, ...larger));
  let best: Point = {
    dimensions: Math.min(given.dimensions ?? SEARCH_DIMENSIONS, SEARCH_DIMENSIONS),
    balance: 8,
    strength: 0.12,
    regularizationExponent: given.regularizationExponent ?? 1,
    weighting: given.weighting ?? "log",
    damping: given.damping ?? 0,
  };
  if (!bench.possible) {
    const point = { ...best, dimensions: given.dimensions ?? best.dimensions };
    return { point, epochs: given.epochs ?? 8, report: { quality: null, popularity: null, trials: 0 } };
  }

  const gain = (point: Point) => {
    const { ndcg20 } = bench.measure(point, TRIAL_EPOCHS);
    onTrial(Math.min(0.99, bench.trials / EXPECTED_TRIALS));
    return ndcg20;
  };
  const walk = (from: Point, step: Step): Point => {
    if (step.balance === undefined ? given.regularization !== undefined : given.alpha !== undefined)
      return from;
    let reached = from;
    for (const direction of [1, -1]) {
      for (;;) {
        const next = {
          ...reached,
          balance: reached.balance * (step.balance ?? 1) ** direction,
          strength: reached.strength * step.strength ** direction,
        };
        if (next.strength > 1 || gain(next) <= gain(reached)) break;
        reached = next;
      }
      if (reached !== from) break;
    }
    return reached;
  };

  best = walk(best, COARSE);
  best = walk(best, ALONG);
  best = walk(best, FINE);
  if (given.damping === undefined) {
    for (const damping of DAMPINGS) {
      const other = walk({ ...best, damping }, FINE);
      if (gain(other) < gain(best) * WORTHWHILE) break;
      best = other;
    }
  }
  if (
    given.weighting === undefined &&
    interactions.weight.some((weight) => weight !== interactions.weight[0])
  ) {
    const other = walk({ ...best, weighting: "linear" }, FINE);
    if (gain(other) > gain(best)) best = other;
  }
  for (const dimensions of larger) {
    const other = { ...best, dimensions };
    if (given.dimensions === undefined && gain(other) < gain(best) * WORTHWHILE) break;
    best = other;
  }
  // The best place shifts with the dimensions.
  if (best.dimensions !== SEARCH_DIMENSIONS) best = walk(best, ALONG);
  const moments = given.epochs === undefined ? MOMENTS : [given.epochs];
  const qualities = bench.trace(best, moments);
  const gains = qualities.map(({ ndcg20 }) => ndcg20);
  const at = gains.indexOf(Math.max(...gains));
  onTrial(1);
  return {
    point: best,
    epochs: moments[at] as number,
    report: { quality: qualities[at] as Quality, popularity: bench.popularity(), trials: bench.trials },
  };
}

/** A model that is costlier or less plain must be better by so much. */
const WORTHWHILE = 1.003;

function workOf(interactions: Interactions, dimensions: number): number {
  const rowWork = (entries: number) =>
    entries <= 0.75 * dimensions
      ? entries ** 2 * (0.6 * dimensions + entries / 4)
      : dimensions ** 2 * (0.6 * entries + dimensions / 4);
  let work = 0;
  for (let user = 0; user < interactions.users; user++) {
    work += rowWork((interactions.start[user + 1] as number) - (interactions.start[user] as number));
  }
  for (const entries of itemCounts(interactions)) work += rowWork(entries);
  return work * TYPICAL_EPOCHS;
}
