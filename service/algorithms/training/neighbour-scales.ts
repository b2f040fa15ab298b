import { type Interactions, itemCounts, rowOf } from "../interactions";
import { type NeighbourRule, Neighbours, power } from "../neighbours";

/** Maximum number of users that `scalesOf` measures. */
const SCALED_BY = 64;

/**
 * Returns a scale for each popularity exponent. With this scale, the best neighbour score of a user is 1 on average,
 * about as high as the best dot product of vectors.
 */
export function scalesOf(
  of: Interactions,
  rule: Omit<NeighbourRule, "scale" | "popularityExponent">,
  exponents: readonly number[],
): number[] {
  const counts = itemCounts(of);
  const neighbours = new Neighbours(of, { ...rule, scale: 1, popularityExponent: 0 }, counts);
  const factors = exponents.map((exponent) => Float32Array.from(counts, (count) => power(count, exponent)));
  const sums = exponents.map(() => 0);
  const scores = new Float32Array(of.items);
  let users = 0;
  for (let user = 0; user < of.users; user += Math.ceil(of.users / SCALED_BY)) {
    const own = rowOf(of, user);
    if (own.length === 0) continue;
    scores.fill(0);
    neighbours.add(scores, own);
    for (const item of own) scores[item] = 0;
    factors.forEach((factor, at) => {
      let best = 0;
      for (let item = 0; item < scores.length; item++) best = Math.max(best, scores[item] * factor[item]);
      sums[at] += best;
    });
    users++;
  }
  return sums.map((sum) => (sum > 0 ? users / sum : 0));
}
