import { withOthers } from "../event-weights";
import type { ExposureRule } from "../exposure";
import { type Interactions, itemCounts } from "../interactions";
import { mean } from "../linear-algebra";
import { MOST_ENTRIES, scalesOf } from "../neighbours";
import { DEFAULT_SEED } from "../random";
import { scaleWeights, weightScaleOf } from "../weighting";
import type { Quality } from "./evaluation";
import { Factorizer } from "./ials";
import type { G1Parameters } from "./model";
import { EXPONENTS, factorParameters, type Point } from "./point";
import { Scales } from "./scale";
import { shared, type Team } from "./team";

interface Factorization {
  readonly key: string;
  readonly scales: Scales;
  readonly factorizer: Factorizer;
  /** What the vectors are trained for, and how far. */
  trained?: { readonly key: string; epochs: number };
}

/** Into how many parts the users of a measurement are divided. */
const PARTS = 32;
/** Exponents of popularity whose scales are found at once. */
const USUAL_EXPONENTS = Array.from({ length: 11 }, (_, tenths) => tenths / 10);

/** Some users, and the held-out pairs that a ranking has to find for them. */
export interface Questions {
  readonly users: Uint32Array;
  readonly test: Interactions;
}

/** Questions, of which every step-th is asked if neighbours count, because that takes longer. */
export interface AskedUsers extends Questions {
  readonly step: number;
}

/** One hold-out, with the users asked to choose parameters and those asked for the report, and the last vectors. */
export class Fold {
  readonly train: Interactions;
  /** What is not recommended again: pairs of the target event, or all. */
  readonly had: Interactions;
  readonly choosing: AskedUsers;
  readonly reporting: AskedUsers;
  private readonly itemCounts: Uint32Array;
  private last: Factorization | undefined;
  private readonly units = new Map<number, number>();

  constructor(
    train: Interactions,
    { choosing, reporting }: { readonly choosing: Questions; readonly reporting: Questions },
    /** Pairs that there is time to look at if neighbours count. */
    neighbourPairs: number,
    private readonly team: Team,
    /** What other types of events add, without the pairs that are held out. */
    others: Interactions | null = null,
    recommendSeen = true,
  ) {
    const all = withOthers(train, others);
    this.train = sharedPairs(all);
    this.had = others && recommendSeen ? sharedPairs(train) : this.train;
    this.itemCounts = shared(itemCounts(this.train));
    const asked = ({ users, test }: Questions): AskedUsers => {
      const step = Math.max(1, Math.ceil(neighbourCost(this.train, users) / neighbourPairs));
      return { users, test: sharedPairs(test), step };
    };
    this.choosing = asked(choosing);
    this.reporting = asked(reporting);
  }

  /** Vectors trained for a point, going on where they stand at an earlier moment of the same training. */
  trained(point: Point, epochs: number, given: G1Parameters, maxDimensions: number): Factorizer {
    const of = this.factorizationOf(point, maxDimensions);
    // Neighbours change nothing in them.
    const { neighbours: _, ...own } = point;
    const key = JSON.stringify(own);
    if (of.trained?.key !== key || of.trained.epochs > epochs) {
      of.factorizer.begin(factorParameters(point, given, of.scales), DEFAULT_SEED);
      of.trained = { key, epochs: 0 };
    }
    for (; of.trained.epochs < epochs; of.trained.epochs++) of.factorizer.epoch();
    return of.factorizer;
  }

  /** Measures vectors with each of several ways to let neighbours count. */
  measure(
    asked: AskedUsers,
    factorizer: Factorizer,
    ways: readonly Point["neighbours"][],
    fewer: boolean,
    exposure?: ExposureRule,
  ): Quality[] {
    const users = shared(usersAsked(asked, fewer));
    const blends = ways.map(({ share, popularityExponent }) => ({
      scale: share === 0 ? 0 : share * this.unitOf(popularityExponent),
      popularityExponent,
    }));
    const out = new Float64Array(new SharedArrayBuffer(users.length * blends.length * 16));
    const { train } = this;
    const { test } = asked;
    const vectors = factorizer.measured();
    const withNeighbours = blends.some(({ scale }) => scale > 0);
    this.team.run({
      ...{ kind: "measure", ...vectors, parts: PARTS, size: users.length * train.items * vectors.stride },
      ...{ train, had: { start: this.had.start, index: this.had.index }, users, blends, out, exposure },
      test: { start: test.start, index: test.index },
      itemCounts: this.itemCounts,
      byLength: exposure || withNeighbours ? null : factorizer.byLength(),
      neighbours: withNeighbours ? EXPONENTS : null,
    });
    return blends.map((_, blend) => {
      const mean = (which: number) => {
        let sum = 0;
        for (let at = 0; at < users.length; at++) sum += out[(at * blends.length + blend) * 2 + which];
        return sum / Math.max(1, users.length);
      };
      return { recall20: mean(0), ndcg20: mean(1) };
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

  /** The scale at which neighbours say as much as vectors. */
  private unitOf(exponent: number): number {
    if (!this.units.has(exponent)) {
      const exponents = [...USUAL_EXPONENTS, exponent];
      scalesOf(this.train, EXPONENTS, exponents).forEach((scale, at) => {
        this.units.set(exponents[at], scale);
      });
    }
    return this.units.get(exponent) as number;
  }
}

/** The users that are asked: as many as there is time for if neighbours count. */
export function usersAsked({ users, step }: AskedUsers, fewer: boolean): Uint32Array {
  return fewer ? users.filter((_, at) => at % step === 0) : users;
}

/** Without copies, threads see the same. */
function sharedPairs(of: Interactions): Interactions {
  const { start, index, weight } = of;
  return { ...of, time: undefined, start: shared(start), index: shared(index), weight: shared(weight) };
}

/** Pairs that are looked at to find the neighbours of all users and what they chose, roughly. */
function neighbourCost(of: Interactions, users: Uint32Array): number {
  const counts = itemCounts(of);
  const average = of.index.length / of.users;
  return users.reduce((sum, user) => {
    let near = 0;
    for (let at = of.start[user]; at < of.start[user + 1]; at++) near += counts[of.index[at]];
    return sum + Math.min(near, MOST_ENTRIES) + Math.min(near * average, of.index.length, MOST_ENTRIES);
  }, 0);
}

/** The mean of qualities. */
export function average(qualities: readonly Quality[]): Quality {
  return {
    recall20: mean(qualities.map(({ recall20 }) => recall20)),
    ndcg20: mean(qualities.map(({ ndcg20 }) => ndcg20)),
  };
}
