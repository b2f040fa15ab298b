import { dot, norm } from "./linear-algebra";

/** What counts beside how well an item fits: choices, of which nothing is left to the search. */
export interface ExposureRule {
  /** How far items stand back that are like those above them: 0 not at all, 1 as if nothing else counted. */
  readonly diversity: number;
  /** How far the score of an item falls with the number of its users: at 1 it is divided by its square root. */
  readonly popularityPenalty: number;
}

/** What a model shows of a catalogue: what is among the first 20 for some of its users. */
export interface Exposure {
  /** Share of all items that at least one of the users is shown. */
  readonly coverage20: number;
  /** Share of the results that hardly any user has chosen yet. */
  readonly coldItems20: number;
  /** How unlike the items of a list are: one less the mean of the cosines of their vectors. */
  readonly diversity20: number;
  /** The mean place of the results in the order of popularity: 0 for the least popular item, 1 for the most popular. */
  readonly shownPopularity20: number;
  /** The same of what these users have chosen. */
  readonly chosenPopularity: number;
}

/** The rule that some parameters give, undefined where it would change nothing. */
export function exposureRule({
  diversity = 0,
  popularityPenalty = 0,
}: Partial<ExposureRule>): ExposureRule | undefined {
  return diversity > 0 || popularityPenalty > 0 ? { diversity, popularityPenalty } : undefined;
}

/** What the score of an item that so many users chose is multiplied by. */
export function penaltyOf(users: number, popularityPenalty: number): number {
  return Math.max(1, users) ** (-popularityPenalty / 2);
}

/** A score with the penalty of its item; one below zero sinks by it too. */
export function penalized(score: number, penalty: number): number {
  return score > 0 ? score * penalty : score / penalty;
}

/** How many of the first candidates are put in an order of greater diversity. */
export const DIVERSIFIED = 100;

/**
 * The first of some items, best first, in an order of greater diversity: each next one is that which stands highest and
 * is least like any above it (maximal marginal relevance: Carbonell, Goldstein, 1998). Places count and not scores, so
 * that it is the same for whatever has put them in order.
 */
export function diversified(
  order: readonly number[],
  limit: number,
  diversity: number,
  vectorOf: (item: number) => Float32Array,
): number[] {
  const left = order.slice(0, DIVERSIFIED).map((item, place) => ({
    ...{ item, vector: unit(vectorOf(item)), likeness: 0 },
    relevance: 1 - place / DIVERSIFIED,
  }));
  const chosen: number[] = [];
  while (left.length > 0 && chosen.length < limit) {
    const value = ({ relevance, likeness }: (typeof left)[number]) =>
      (1 - diversity) * relevance - diversity * likeness;
    const best = left.reduce((a, b) => (value(b) > value(a) ? b : a));
    left.splice(left.indexOf(best), 1);
    chosen.push(best.item);
    for (const other of left) other.likeness = Math.max(other.likeness, dot(other.vector, best.vector));
  }
  return [...chosen, ...order.slice(DIVERSIFIED)].slice(0, limit);
}

/** How alike the items of a list are: the mean of the cosines of their vectors. */
export function likenessOf(vectors: readonly Float32Array[]): number {
  const units = vectors.map(unit);
  let sum = 0;
  units.forEach((one, at) => {
    for (const other of units.slice(at + 1)) sum += dot(one, other);
  });
  return sum / Math.max(1, (units.length * (units.length - 1)) / 2);
}

function unit(vector: Float32Array): Float32Array {
  const length = norm(vector);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
