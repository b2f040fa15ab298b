import type { Interactions } from "../interactions";
import { type NeighbourRule, scalesOf } from "../neighbours";
import type { Weighting } from "../weighting";
import type { FactorParameters } from "./ials";
import type { G1Parameters } from "./model";
import { alphaOf, type Scales } from "./scale";

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

const STRENGTH_FOR_ALL = 0.9;

/** The parameters of the factorisation that a point stands for on the given data; given ones win. */
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

/**
 * The same place for all of the data: where there is more to learn from than on the hold-out, less is to be held back.
 * Found by trying: on MovieLens, FilmTrust and Epinions the best strength for all was .88, .75 and .89 of the hold-out's.
 */
export function forAllData(point: Point): Point {
  return { ...point, strength: point.strength * STRENGTH_FOR_ALL };
}

/** Found by trying, on hold-outs of sparse data; where they lie within a wide range makes little difference. */
export const EXPONENTS = { damping: 0.5, itemExponent: 0.5, userExponent: 0.7 };

/** How neighbours count at a point, null where they do not. */
export function neighbourRule({ neighbours }: Point, data: Interactions): NeighbourRule | null {
  const { share, popularityExponent } = neighbours;
  if (share === 0) return null;
  const [unit] = scalesOf(data, EXPONENTS, [popularityExponent]);
  return { ...EXPONENTS, popularityExponent, scale: share * unit };
}
