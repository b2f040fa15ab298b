import { type Interactions, itemCounts } from "../interactions";
import type { Quality } from "./evaluation";
import type { G1Parameters, TrainingReport } from "./model";
import { massOf } from "./scale";
import { forAllData, type Point, TrialBench } from "./trial";

/** What the search settled on. */
export interface Choice {
  readonly point: Point;
  readonly epochs: number;
  readonly report: TrainingReport;
}

/** A place and what is gained there, by measurement or by estimate; measured only where it is asked for. */
interface Top {
  readonly point: Point;
  gain(): number;
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
const LARGER_DIMENSIONS = [128, 64];
const TRIAL_EPOCHS = 5;
const DAMPINGS = [0.25, 0.5];
const MOMENTS = [5, 8, 12];
const EXPECTED_TRIALS = 26;
const TYPICAL_EPOCHS = 8;
/** Multiplications that the final training may take: about half a minute on one core. */
const MAX_WORK = 1.5e11;

/** Chooses the parameters that are not given by what they gain on a hold-out, one after another. */
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
    return {
      point,
      epochs: given.epochs ?? 8,
      report: {
        quality: null,
        popularity: null,
        heldOut: bench.heldOut(),
        trials: 0,
      },
    };
  }

  const gain = (point: Point) => {
    const [{ ndcg20 }] = bench.trace(point, [TRIAL_EPOCHS]) as [Quality];
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

  /** To the top of the parabola through the gains of the best step and of those beside it, which steps alone may miss. */
  const climb = (from: Point): Top => {
    const at = walk(from, FINE);
    const beside = (steps: number): Point => ({ ...at, strength: at.strength * FINE.strength ** steps });
    const reached = { point: at, gain: () => gain(at) };
    if (given.regularization !== undefined || beside(1).strength > 1) return reached;
    const [below, here, above] = [gain(beside(-1)), gain(at), gain(beside(1))];
    const [slope, bend] = [(above - below) / 2, 2 * here - below - above];
    if (!(bend > 0)) return reached;
    return { point: beside(slope / bend), gain: () => here + slope ** 2 / (2 * bend) };
  };

  best = walk(best, COARSE);
  best = walk(best, ALONG);
  let top = climb(best);
  if (
    given.weighting === undefined &&
    interactions.weight.some((weight) => weight !== interactions.weight[0])
  ) {
    const other = climb({ ...best, weighting: "linear" });
    if (other.gain() > top.gain()) top = other;
  }
  const { weighting } = top.point;
  const dampings = given.damping === undefined ? DAMPINGS : [];
  const places = [top.point, ...dampings.map((damping) => climb({ ...best, weighting, damping }).point)];
  // How much damping is best depends on the dimensions; how much regularisation hardly does.
  const bestOf = (dimensions: number): Point =>
    places
      .map((place) => ({ ...place, dimensions }))
      .reduce((plainer, other) => (gain(other) > gain(plainer) * WORTHWHILE ? other : plainer));
  best = bestOf(given.dimensions ?? best.dimensions);
  for (const dimensions of given.dimensions === undefined ? affordable : []) {
    const longer = bestOf(dimensions);
    if (gain(longer) <= gain(best) * TOLERABLE) continue;
    best = longer;
    break;
  }
  const moments = given.epochs === undefined ? MOMENTS : [given.epochs];
  const qualities = bench.trace(best, moments);
  const gains = qualities.map(({ ndcg20 }) => ndcg20);
  const at = gains.indexOf(Math.max(...gains));
  onTrial(1);
  return {
    point: forAllData(best),
    epochs: moments[at] as number,
    report: {
      quality: qualities[at] as Quality,
      popularity: bench.popularity(),
      heldOut: bench.heldOut(),
      trials: bench.trials,
    },
  };
}

/** A model that is less plain must be better by so much. */
const WORTHWHILE = 1.003;

/** With the right regularisation more dimensions do no harm: only a loss beyond the noise of the hold-out is heeded. */
const TOLERABLE = 0.99;

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
