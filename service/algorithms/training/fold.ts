import { withOthers } from "../event-weights";
import type { ExposureRule } from "../exposure";
import { type Interactions, itemCounts, type TimedInteractions } from "../interactions";
import { mean } from "../linear-algebra";
import { MOST_ENTRIES } from "../neighbours";
import { DEFAULT_SEED } from "../random";
import { scaleWeights, weightScaleOf } from "../weighting";
import type { Quality } from "./evaluation";
import { Factorizer } from "./ials";
import type { G1Parameters } from "./model";
import { scalesOf } from "./neighbour-scales";
import { EXPONENTS, exponentsWith, factorParameters, type NeighbourPoint, type Point } from "./point";
import { Scales } from "./scale";
import { type Team, toShared } from "./team";

/** A factorizer for pairs with one weighting and damping. */
interface Factorization {
  readonly key: string;
  readonly scales: Scales;
  readonly factorizer: Factorizer;
  /** Key of the point that the vectors are trained for, and the number of epochs so far. */
  trained?: { readonly key: string; epochs: number };
}

/** Number of parts that the measured users are divided into. Threads take one part after another. */
const PARTS = 32;
/** Popularity exponents whose neighbour scales are computed in one pass. */
const USUAL_EXPONENTS = Array.from({ length: 11 }, (_, tenths) => tenths / 10);

/** Users to measure, and their held-out pairs. */
export interface HeldOutPairs {
  readonly users: Uint32Array;
  readonly test: Interactions;
}

/** Held-out pairs with a step. With neighbours, only every step-th user is measured, because this takes longer. */
export interface MeasuredPairs extends HeldOutPairs {
  readonly step: number;
}

interface FoldData {
  /** Pairs of the target event to learn from. */
  readonly train: Interactions;
  /** Held-out pairs on which parameters are chosen. */
  readonly choosing: HeldOutPairs;
  /** Held-out pairs on which the report is measured. */
  readonly reporting: HeldOutPairs;
  /** Maximum number of pairs that a measurement with neighbours reads. */
  readonly neighbourPairs: number;
  readonly team: Team;
  /** Pairs of other event types, without those that are held out. */
  readonly others: Interactions | null;
  readonly recommendSeen: boolean;
}

/** A split into pairs to learn from and held-out pairs, with the vectors that were trained last. */
export class Fold {
  readonly train: Interactions;
  /** The same pairs with their times; undefined if some have none. */
  readonly timed: TimedInteractions | undefined;
  /** Items that are not recommended to each user: those with target events, or those with events of any type. */
  readonly excluded: Interactions;
  readonly choosing: MeasuredPairs;
  readonly reporting: MeasuredPairs;
  private readonly team: Team;
  private readonly itemCounts: Uint32Array;
  private last: Factorization | undefined;
  private readonly neighbourScales = new Map<string, number>();

  constructor({ train, choosing, reporting, neighbourPairs, team, others, recommendSeen }: FoldData) {
    this.team = team;
    const all = withOthers(train, others);
    this.train = toSharedPairs(all);
    this.timed = all.time && { ...this.train, time: all.time };
    this.excluded = others && recommendSeen ? toSharedPairs(train) : this.train;
    this.itemCounts = toShared(itemCounts(this.train));
    const measured = ({ users, test }: HeldOutPairs): MeasuredPairs => {
      const step = Math.max(1, Math.ceil(neighbourCost(this.train, users) / neighbourPairs));
      return { users, test: toSharedPairs(test), step };
    };
    this.choosing = measured(choosing);
    this.reporting = measured(reporting);
  }

  /**
   * Trains vectors for a point. Continues the last training if it was for the same point and had no more epochs than
   * requested.
   */
  trained(point: Point, epochs: number, given: G1Parameters, maxDimensions: number): Factorizer {
    const of = this.factorizationOf(point, maxDimensions);
    // The neighbour setting does not affect the vectors.
    const { neighbours: _, ...own } = point;
    const key = JSON.stringify(own);
    if (of.trained?.key !== key || of.trained.epochs > epochs) {
      of.factorizer.begin(factorParameters(point, given, of.scales), DEFAULT_SEED);
      of.trained = { key, epochs: 0 };
    }
    for (; of.trained.epochs < epochs; of.trained.epochs++) of.factorizer.epoch();
    return of.factorizer;
  }

  /** Measures the quality of vectors with each of several neighbour settings. */
  measure(
    measured: MeasuredPairs,
    factorizer: Factorizer,
    settings: readonly NeighbourPoint[],
    fewer: boolean,
    exposure?: ExposureRule,
  ): Quality[] {
    const users = toShared(measuredUsers(measured, fewer));
    const blends = settings.map((setting) => ({
      ...setting,
      scale: setting.share === 0 ? 0 : setting.share * this.neighbourScale(setting),
    }));
    const out = new Float64Array(new SharedArrayBuffer(users.length * blends.length * 16));
    const { train, excluded } = this;
    const { test } = measured;
    const vectors = factorizer.measured();
    const withNeighbours = blends.some(({ scale }) => scale > 0);
    this.team.run({
      kind: "measure",
      ...vectors,
      parts: PARTS,
      size: users.length * train.items * vectors.stride,
      train,
      excluded: { start: excluded.start, index: excluded.index },
      test: { start: test.start, index: test.index },
      users,
      blends,
      out,
      exposure,
      itemCounts: this.itemCounts,
      byLength: exposure || withNeighbours ? null : factorizer.byLength(),
      neighbours: withNeighbours ? EXPONENTS : null,
    });
    return blends.map((_, blend) => {
      const average = (figure: number) => {
        let sum = 0;
        for (let at = 0; at < users.length; at++) sum += out[(at * blends.length + blend) * 2 + figure];
        return sum / Math.max(1, users.length);
      };
      return { recall20: average(0), ndcg20: average(1) };
    });
  }

  private factorizationOf({ weighting, damping }: Point, maxDimensions: number): Factorization {
    const key = `${weighting} ${damping}`;
    if (this.last?.key !== key) {
      const data = scaleWeights(this.train, weightScaleOf(this.train, weighting, damping));
      const factorizer = new Factorizer(data, maxDimensions, this.team, true, this.last?.factorizer);
      this.last = { key, scales: new Scales(data), factorizer };
    }
    return this.last;
  }

  /** Returns the scale at which the best neighbour scores are as high as the best dot products. */
  private neighbourScale({ popularityExponent, similarityExponent }: NeighbourPoint): number {
    const keyOf = (exponent: number) => `${similarityExponent} ${exponent}`;
    const known = this.neighbourScales.get(keyOf(popularityExponent));
    if (known !== undefined) return known;
    const exponents = [...USUAL_EXPONENTS, popularityExponent];
    const scales = scalesOf(this.train, exponentsWith(similarityExponent), exponents);
    scales.forEach((scale, at) => {
      this.neighbourScales.set(keyOf(exponents[at]), scale);
    });
    return scales[scales.length - 1];
  }
}

/** Returns the users to measure: all of them, or every step-th one if `fewer` is true. */
export function measuredUsers({ users, step }: MeasuredPairs, fewer: boolean): Uint32Array {
  return fewer ? users.filter((_, at) => at % step === 0) : users;
}

/** Copies pairs to shared memory, so messages to threads do not copy them. */
function toSharedPairs(of: Interactions): Interactions {
  const { start, index, weight } = of;
  return { ...of, time: undefined, start: toShared(start), index: toShared(index), weight: toShared(weight) };
}

/** Estimates the number of pairs that are read to find the neighbours of the given users, and the neighbours' items. */
function neighbourCost(of: Interactions, users: Uint32Array): number {
  const counts = itemCounts(of);
  const average = of.index.length / of.users;
  return users.reduce((sum, user) => {
    let near = 0;
    for (let at = of.start[user]; at < of.start[user + 1]; at++) near += counts[of.index[at]];
    return sum + Math.min(near, MOST_ENTRIES) + Math.min(near * average, of.index.length, MOST_ENTRIES);
  }, 0);
}

/** Returns the mean of qualities. */
export function averageQuality(qualities: readonly Quality[]): Quality {
  return {
    recall20: mean(qualities.map(({ recall20 }) => recall20)),
    ndcg20: mean(qualities.map(({ ndcg20 }) => ndcg20)),
  };
}
