import type { Interactions } from "../interactions";
import { DEFAULT_EFFORT, efforts } from "./effort";
import type { Quality } from "./evaluation";
import type { G1Parameters, TrainingReport } from "./model";
import { forAllData, type Point } from "./point";
import type { ReportUsers } from "./report-users";
import { massOf } from "./scale";
import { alone, type Team } from "./team";
import { type Others, TrialBench } from "./trial";

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
function stepsFor(given: G1Parameters): Record<"coarse" | "weaker" | "fine" | "along", Step> {
  const strengthBy =
    (factor: number): Step =>
    (from, direction) => {
      const strength = from.strength * factor ** direction;
      return given.regularization !== undefined || strength > 1 ? null : { ...from, strength };
    };
  return {
    coarse: strengthBy(COARSE),
    weaker: (from, direction) => (direction < 0 ? strengthBy(COARSE)(from, direction) : null),
    fine: strengthBy(FINE),
    // The more the unobserved weighs, the less regularisation is needed: the two move together.
    along: (from, direction) => {
      const strength = from.strength * 1.4 ** -direction;
      if (given.alpha !== undefined || strength > 1) return null;
      return { ...from, strength, balance: from.balance * 3 ** direction };
    },
  };
}

/** How much neighbours may count, and how far they may hold the popular back. */
const SHARES = [0, 0.125, 0.25, 0.5, 1, 2, 4, 8];
const EXPONENTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
/** Length of the vectors of the search. */
export const SEARCH_DIMENSIONS = 32;
/** Passes of a trial. */
export const TRIAL_EPOCHS = 5;
const EXPECTED_TRIALS = 26;
const TYPICAL_EPOCHS = 8;

/** Where the search begins. */
export function firstPoint(given: G1Parameters): Point {
  return {
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
}

/**
 * Chooses the parameters that are not given by what they gain on a hold-out, one after another. The report is measured
 * on users that no trial has asked: the best of many trials on one hold-out looks better there than it is.
 */
export function searchParameters(
  interactions: Interactions,
  given: G1Parameters,
  onTrial: (fraction: number, quality: Quality, trials: readonly number[]) => void,
  team: Team = alone,
  /** What other types of events add; nothing of it is asked for. */
  others?: Others,
  reportUsers?: ReportUsers,
): Choice {
  const mass = massOf(interactions);
  const budget = efforts[given.effort ?? DEFAULT_EFFORT];
  const isAffordable = (dimensions: number, epochs: number) =>
    workOf(interactions, others?.pairs ?? null, dimensions, epochs, budget.learnedPairs) <=
    budget.multiplications;
  const affordable = budget.dimensions.filter(
    (dimensions) =>
      dimensions * 4 <= Math.min(mass.users, mass.items) && isAffordable(dimensions, TYPICAL_EPOCHS),
  );
  const larger = given.dimensions === undefined ? affordable : [given.dimensions];
  const bench = new TrialBench(
    interactions,
    given,
    Math.max(SEARCH_DIMENSIONS, ...larger),
    budget,
    team,
    others,
    undefined,
    reportUsers,
  );
  let best = firstPoint(given);
  if (!bench.possible) {
    const point = { ...best, dimensions: given.dimensions ?? best.dimensions };
    const epochs = given.epochs ?? TYPICAL_EPOCHS;
    return { point, epochs, report: { ...bench.report(point, epochs), trials: 0 } };
  }

  let quality: Quality = { recall20: 0, ndcg20: 0 };
  const tell = (found: Quality) => {
    if (found.ndcg20 > quality.ndcg20) quality = found;
    onTrial(Math.min(0.99, bench.trials.length / EXPECTED_TRIALS), quality, bench.trials);
  };
  const gain = (point: Point) => {
    const [found] = bench.trace(point, [TRIAL_EPOCHS]);
    tell(found);
    return found.ndcg20;
  };
  /** The best of several ways to let neighbours count, with its gain. */
  const bestWay = (from: Point, ways: readonly Point["neighbours"][]) => {
    const found = bench.blends(from, TRIAL_EPOCHS, ways);
    const most = Math.max(...found.map(({ ndcg20 }) => ndcg20));
    // Of many that are nearly as good, the first one counts least on neighbours.
    const at = found.findIndex(({ ndcg20 }) => ndcg20 * WORTHWHILE >= most);
    tell(found[at]);
    return { way: ways[at], gain: found[at]?.ndcg20 ?? 0 };
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
    const shares = given.neighbours === undefined ? SHARES : [given.neighbours];
    // Among some of the users nothing is as popular as among all: there what is best on most data stays.
    const isGiven = given.popularityExponent !== undefined;
    const exponents = isGiven || bench.isSample ? [from.neighbours.popularityExponent] : EXPONENTS;
    if (shares.length * exponents.length === 1 || given.neighbours === 0) return from;
    const { popularityExponent } = from.neighbours;
    const first = bestWay(
      from,
      shares.map((share) => ({ share, popularityExponent })),
    ).way;
    if (first.share === 0) return { ...from, neighbours: first };
    const other = bestWay(
      from,
      exponents.map((exponent) => ({ ...first, popularityExponent: exponent })),
    );
    const second = other.gain > bestWay(from, [first]).gain * CERTAIN ? other.way : first;
    const third = bestWay(
      from,
      shares.length === 1 ? [second] : FINER.map((by) => ({ ...second, share: second.share * by })),
    );
    const without = { ...first, share: 0 };
    const isWorth = shares.length === 1 || third.gain > bestWay(from, [without]).gain * WORTHWHILE;
    return { ...from, neighbours: isWorth ? third.way : without };
  };

  /** Passes to try: some of the users need fewer than all do, so that with them it is as many as there is time for. */
  const momentsFor = ({ dimensions }: Point): readonly number[] =>
    bench.isSample
      ? budget.epochs.filter((epochs, at) => at === 0 || isAffordable(dimensions, epochs)).slice(-1)
      : budget.epochs;

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
  const dampings = given.damping === undefined ? budget.dampings : [];
  // Where neighbours count, how much the vectors are damped makes so little difference that a little of it is enough.
  const places =
    best.neighbours.share > 0
      ? [...dampings.slice(0, 1).map((damping) => ({ ...top.point, damping })), top.point]
      : [top.point, ...dampings.map((damping) => climb({ ...best, weighting, damping }).point)];
  // How much damping is best depends on the dimensions; how much regularisation hardly does.
  const bestOf = (dimensions: number, among = places): Point =>
    among
      .map((place) => ({ ...place, dimensions }))
      .reduce((plainer, other) => (gain(other) > gain(plainer) * WORTHWHILE ? other : plainer));
  best = bestOf(given.dimensions ?? best.dimensions);
  for (const dimensions of given.dimensions === undefined ? affordable : []) {
    const longer = bestOf(dimensions, best.neighbours.share > 0 ? [best] : places);
    if (gain(longer) <= gain(best) * (bench.isSample ? TOLERABLE_OF_SAMPLE : TOLERABLE)) continue;
    best = longer;
    break;
  }
  // The longer the vectors beside which neighbours count, the less is to be held back.
  if (best.neighbours.share > 0) best = walk(best, steps.weaker);
  best = neighboured(best);
  const moments = given.epochs === undefined ? momentsFor(best) : [given.epochs];
  const reports = new Map<number, Quality>();
  const qualities = bench.trace(best, moments, reports);
  const gains = qualities.map(({ ndcg20 }) => ndcg20);
  const most = Math.max(...gains);
  const at = gains.findIndex((one) => one * WORTHWHILE >= most);
  const epochs = moments[at];
  onTrial(1, qualities[at], bench.trials);
  return {
    point: forAllData(best),
    epochs,
    report: { ...bench.report(best, epochs, reports.get(epochs)), trials: bench.trials.length },
  };
}

/** A model that is less plain must be better by so much. */
export const WORTHWHILE = 1.003;

/** With the right regularisation more dimensions do no harm: only a loss beyond the noise of the hold-out is heeded. */
const TOLERABLE = 0.99;

/** On some of the users longer vectors lose what they gain on all: on a quarter of Gowalla's, twice as long ones. */
const TOLERABLE_OF_SAMPLE = 0.95;

/** Another exponent of popularity must be better by so much than the one that is best on most data. */
const CERTAIN = 1.01;

/** Shares beside the best one. */
const FINER = [0.5, 0.7, 1, 1.4, 2];

function workOf(
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
