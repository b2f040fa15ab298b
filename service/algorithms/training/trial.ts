import { type Interactions, itemCounts, selectUsers } from "../interactions";
import { type NeighbourRule, Neighbours, scaleOf } from "../neighbours";
import { createRandom, sample } from "../random";
import { scaleWeights, type Weighting, weightScaleOf } from "../weighting";
import { evaluate, type HoldOut, holdOut, type Quality } from "./evaluation";
import { Factorizer, type FactorParameters } from "./ials";
import type { G1Parameters } from "./model";
import { alphaOf, massOf, vanishingRegularization } from "./scale";

/** Parameters in terms that mean nearly the same on every data set and on every sample of it. */
export interface Point {
  readonly dimensions: number;
  /** Weight of all unobserved pairs together against that of the observed ones. */
  readonly balance: number;
  /** Regularisation as a share of the one from which on all vectors vanish. */
  readonly strength: number;
  readonly regularizationExponent: number;
  readonly weighting: Weighting;
  readonly damping: number;
  readonly neighbours: {
    /** How much they say at best, where vectors say one; 0 leaves them out. */
    readonly share: number;
    readonly popularityExponent: number;
  };
}

const SHARE = 0.1;
const STRENGTH_FOR_ALL = 0.9;
const MAX_ENTRIES = 300_000;
const MAX_FOLDS = 4;
const MAX_USERS = 2000;
const MAX_PRODUCTS = 80_000_000;
const SEED = 20_240_229;

/** The parameters of the factorisation that a point stands for on the given data; given ones win. */
export function factorParameters(
  point: Omit<Point, "neighbours">,
  given: G1Parameters,
  data: Interactions,
): FactorParameters {
  const { dimensions, regularizationExponent } = point;
  const alpha = given.alpha ?? alphaOf(point.balance, massOf(data));
  const regularization =
    given.regularization ?? point.strength * vanishingRegularization(data, alpha, regularizationExponent);
  return { dimensions, alpha, regularization, regularizationExponent };
}

/**
 * The same place for all of the data: where there is more to learn from than on the hold-out, less is to be held back.
 * Found by trying: on MovieLens, FilmTrust and Epinions the best strength for all was .88, .75 and .89 of the hold-out's.
 */
export function forAllData(point: Point): Point {
  return { ...point, strength: point.strength * STRENGTH_FOR_ALL };
}

/** Found by trying, on hold-outs of sparse data; where they lie within a wide range makes little difference. */
const EXPONENTS = { damping: 0.5, itemExponent: 0.5, userExponent: 0.7 };

/** How neighbours count at a point, null where they do not. */
export function neighbourRule({ neighbours }: Point, data: Interactions): NeighbourRule | null {
  const { share, popularityExponent } = neighbours;
  if (share === 0) return null;
  const rule = { ...EXPONENTS, popularityExponent };
  return { ...rule, scale: scaleOf(data, rule, share) };
}

/** One hold-out, with the users that are asked for and what was used last. */
interface Fold extends HoldOut {
  readonly users: Uint32Array;
  last?: Factorization;
}

interface Factorization {
  readonly key: string;
  readonly data: Interactions;
  readonly factorizer: Factorizer;
  /** What the vectors are trained for, and how far. */
  trained?: { readonly key: string; epochs: number };
}

/** Tries points on a hold-out: on a sample of users where there are many, on several hold-outs where there are few. */
export class TrialBench {
  /** How many points were tried. */
  trials = 0;
  private readonly folds: Fold[] = [];
  private readonly known = new Map<string, Quality>();

  constructor(
    interactions: Interactions,
    private readonly given: G1Parameters,
    private readonly maxDimensions: number,
  ) {
    const random = createRandom(SEED);
    const entries = interactions.index.length;
    const sampled =
      entries <= MAX_ENTRIES
        ? interactions
        : selectUsers(
            interactions,
            sample(random, interactions.users, Math.ceil((interactions.users * MAX_ENTRIES) / entries)),
          );
    const maxUsers = Math.min(MAX_USERS, Math.ceil(MAX_PRODUCTS / interactions.items));
    const folds = Math.max(1, Math.min(MAX_FOLDS, Math.floor(MAX_ENTRIES / entries)));
    for (let fold = 0; fold < folds; fold++) {
      const divided = holdOut(sampled, SHARE, SEED + fold);
      if (divided.test.index.length === 0) break;
      const withAny = Uint32Array.from({ length: sampled.users }, (_, user) => user).filter(
        (user) => divided.test.start[user] !== divided.test.start[user + 1],
      );
      const users = sample(random, withAny.length, maxUsers).map((at) => withAny[at] as number);
      this.folds.push({ ...divided, users });
    }
  }

  /** Whether anything could be held out. */
  get possible(): boolean {
    return this.folds.length > 0;
  }

  /** Quality of a point at several moments of one training, given in ascending order; not tried again if all are known. */
  trace(point: Point, moments: readonly number[]): Quality[] {
    // A step there and back does not end at the very same number.
    const place = JSON.stringify({ ...point, strength: point.strength.toPrecision(6) });
    const keys = moments.map((epochs) => `${place} ${epochs}`);
    if (!keys.every((key) => this.known.has(key)))
      this.train(point, moments).forEach((quality, at) => {
        this.known.set(keys[at] as string, quality);
      });
    return keys.map((key) => this.known.get(key) as Quality);
  }

  private train(point: Point, moments: readonly number[]): Quality[] {
    this.trials++;
    const perFold = this.folds.map((fold) => {
      const factorization = this.factorizationOf(fold, point);
      const rule = neighbourRule(point, fold.train);
      const neighbours = rule && new Neighbours(fold.train, rule);
      return moments.map((moment) => {
        this.trainUntil(factorization, point, moment);
        return evaluate(fold, fold.users, (user) => {
          const scores = factorization.factorizer.scores(user);
          neighbours?.add(scores, itemsOf(fold.train, user));
          return scores;
        });
      });
    });
    return moments.map((_, at) => average(perFold.map((qualities) => qualities[at] as Quality)));
  }

  /** How many users were asked for how many pairs, over all hold-outs. */
  heldOut(): { pairs: number; users: number } {
    const users = new Set<number>();
    const pairs = new Set<number>();
    for (const { test, users: asked } of this.folds) {
      for (const user of asked) {
        users.add(user);
        const items = test.index.subarray(test.start[user], test.start[user + 1]);
        for (const item of items) pairs.add(user * test.items + item);
      }
    }
    return { pairs: pairs.size, users: users.size };
  }

  /** Quality of the order of popularity. */
  popularity(): Quality {
    return average(
      this.folds.map((fold) => {
        const counts = Float32Array.from(itemCounts(fold.train));
        return evaluate(fold, fold.users, () => counts.slice());
      }),
    );
  }

  private factorizationOf(fold: Fold, { weighting, damping }: Point): Factorization {
    const key = `${weighting} ${damping}`;
    if (fold.last?.key !== key) {
      const data = scaleWeights(fold.train, weightScaleOf(fold.train, weighting, damping));
      fold.last = { key, data, factorizer: new Factorizer(data, this.maxDimensions) };
    }
    return fold.last;
  }

  /** Goes on where the vectors stand at an earlier moment of the same training: neighbours change nothing in them. */
  private trainUntil(of: Factorization, { neighbours: _, ...point }: Point, epochs: number): void {
    const key = JSON.stringify(point);
    if (of.trained?.key !== key || of.trained.epochs > epochs) {
      of.factorizer.begin(factorParameters(point, this.given, of.data), SEED);
      of.trained = { key, epochs: 0 };
    }
    for (; of.trained.epochs < epochs; of.trained.epochs++) of.factorizer.epoch();
  }
}

function itemsOf({ start, index }: Interactions, user: number): Uint32Array {
  return index.subarray(start[user], start[user + 1]);
}

function average(qualities: readonly Quality[]): Quality {
  const mean = (of: (quality: Quality) => number) =>
    qualities.reduce((sum, quality) => sum + of(quality), 0) / qualities.length;
  return { recall20: mean((quality) => quality.recall20), ndcg20: mean((quality) => quality.ndcg20) };
}
