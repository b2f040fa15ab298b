import type { Interactions } from "../interactions";
import type { NeighbourRule } from "../neighbours";
import type { Weighting } from "../weighting";
import type { FactorParameters } from "./ials";
import type { G1Parameters } from "./model";
import { scalesOf } from "./neighbour-scales";
import { alphaOf, type Scales } from "./scale";

/**
 * Neighbour setting of a point: how much neighbour scores count, and how they depend on popularity and on the number of
 * shared items.
 */
export interface NeighbourPoint {
  /**
   * Weight of the neighbour scores, after they are scaled to be as high as the dot products of vectors. 0 turns
   * neighbours off.
   */
  readonly share: number;
  readonly popularityExponent: number;
  readonly similarityExponent: number;
}

/** One set of parameters in the search. Its units mean nearly the same on every dataset and every sample of it. */
export interface Point {
  readonly dimensions: number;
  /** Total weight of all unobserved pairs, relative to the total weight of the observed pairs. */
  readonly balance: number;
  /** Regularization, relative to the smallest one at which all vectors become zero. */
  readonly strength: number;
  readonly regularizationExponent: number;
  readonly weighting: Weighting;
  readonly damping: number;
  readonly neighbours: NeighbourPoint;
}

/** Length of the vectors in most trials. */
export const SEARCH_DIMENSIONS = 32;

/** Returns the point that the search starts from. */
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
      similarityExponent: given.similarityExponent ?? 1,
    },
  };
}

/** Converts a point to parameters of the factorization for the given data. Parameters in `given` take precedence. */
export function factorParameters(
  point: Omit<Point, "neighbours">,
  given: G1Parameters,
  scales: Scales,
): FactorParameters {
  const { dimensions, regularizationExponent } = point;
  const alpha = given.alpha ?? alphaOf(point.balance, scales.mass);
  const regularization =
    given.regularization ?? point.strength * scales.vanishingRegularization(alpha, regularizationExponent);
  return { dimensions, alpha, regularization, regularizationExponent };
}

const STRENGTH_FOR_ALL = 0.9;

/**
 * Adapts a point to all of the data: with more data than in the trials, less regularization is best. On MovieLens,
 * FilmTrust and Epinions, the best strength was 0.88, 0.75 and 0.89 times the best strength in the trials.
 */
export function forAllData(point: Point): Point {
  return { ...point, strength: point.strength * STRENGTH_FOR_ALL };
}

/** Exponents of `NeighbourRule`, found by experiments on sparse data. The results depend little on the exact values. */
export const EXPONENTS = { damping: 0.5, itemExponent: 0.5, userExponent: 0.7 };

/** Returns all exponents that do not depend on popularity. */
export function exponentsWith(similarityExponent: number) {
  return similarityExponent === 1 ? EXPONENTS : { ...EXPONENTS, similarityExponent };
}

/** Converts the neighbour setting of a point to a rule for the given data; null if neighbours are turned off. */
export function neighbourRule({ neighbours }: Point, data: Interactions): NeighbourRule | null {
  const { share, popularityExponent, similarityExponent } = neighbours;
  if (share === 0) return null;
  const exponents = exponentsWith(similarityExponent);
  const [unit] = scalesOf(data, exponents, [popularityExponent]);
  return { ...exponents, popularityExponent, scale: share * unit };
}
