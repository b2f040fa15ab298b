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

/** The next place in a direction, null where there is none or where what would change is given. */
type Step = (from: Point, direction: 1 | -1) => Point | null;

const COARSE = 1.7;
const FINE = 1.3;

/** The steps of the search, but for those that would change what is given. */
function stepsFor(given: G1Parameters): Record<"coarse" | "fine" | "along" | "share" | "exponent", Step> {
  const strengthBy =
    (factor: number): Step =>
    (from, direction) => {
      const strength = from.strength * factor ** direction;
      return given.regularization !== undefined || strength > 1 ? null : { ...from, strength };
    };
  return {
    coarse: strengthBy(COARSE),
    fine: strengthBy(FINE),
    // The more the unobserved weighs, the less regularisation is needed: the two move together.
    along: (from, direction) => {
      const strength = from.strength * 1.4 ** -direction;
      if (given.alpha !== undefined || strength > 1) return null;
      return { ...from, strength, balance: from.balance * 3 ** direction };
    },
    share: (from, direction) => withNeighbours(from, { share: from.neighbours.share * 2 ** direction }),
    exponent: (from, direction) => {
      const popularityExponent = Number((from.neighbours.popularityExponent + 0.1 * direction).toFixed(1));
      const isBound = given.popularityExponent !== undefined || from.neighbours.share === 0;
      if (isBound || popularityExponent < 0 || popularityExponent > 1) return null;
      return withNeighbours(from, { popularityExponent });
    },
  };
}

function withNeighbours(from: Point, changed: Partial<Point["neighbours"]>): Point {
  return { ...from, neighbours: { ...from.neighbours, ...changed } };
}

/** How much neighbours count where it is first tried. */
const FIRST_SHARE = 0.5;
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
    neighbours: {
      share: given.neighbours ?? 0,
      popularityExponent: given.popularityExponent ?? 0.4,
    },
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
    let reached = from;
    for (const direction of [1, -1] as const) {
      for (let next = step(reached, direction); next; next = step(reached, direction)) {
        if (gain(next) <= gain(reached)) break;
        reached = next;
      }
      if (reached !== from) break;
    }
    return reached;
  };
  const steps = stepsFor(given);

  /** To the top of the parabola through the gains of the best step and of those beside it, which steps alone may miss. */
  const climb = (from: Point): Top => {
    const at = walk(from, steps.fine);
    const reached = { point: at, gain: () => gain(at) };
    const [weaker, stronger] = [steps.fine(at, -1), steps.fine(at, 1)];
    if (!weaker || !stronger) return reached;
    const [below, here, above] = [gain(weaker), gain(at), gain(stronger)];
    const [slope, bend] = [(above - below) / 2, 2 * here - below - above];
    if (!(bend > 0)) return reached;
    const strength = at.strength * FINE ** (slope / bend);
    return { point: { ...at, strength }, gain: () => here + slope ** 2 / (2 * bend) };
  };

  /** With the neighbours of each user's items, where these are worth it. */
  const neighboured = (from: Point): Point => {
    if (given.neighbours !== undefined) return walk(from, steps.exponent);
    const share = from.neighbours.share || FIRST_SHARE;
    const found = walk(walk(withNeighbours(from, { share }), steps.share), steps.exponent);
    const without = withNeighbours(from, { share: 0 });
    return gain(found) > gain(without) * WORTHWHILE ? found : without;
  };

  best = walk(best, steps.coarse);
  best = walk(best, steps.along);
  best = neighboured(best);
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
  best = neighboured(best);
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
