import { arrayBytes, Kernel, paddedRows } from "../kernel";
import { CANDIDATES } from "../ranking/ranking";
import { topIndices } from "../top";
import type { Factorizer, Factors } from "./ials";
import { bestByProducts } from "./products";

/** Returns the candidates of a user, best first, with their scores. The excluded items are left out. */
export type CandidatesOf = (user: number, excluded: Uint32Array) => { items: number[]; scores: number[] };

/** Finds candidates by the dot products of user and item vectors. Items without a vector are left out. */
export function candidatesByProducts(factorizer: Factorizer): CandidatesOf {
  const { scratch, ...vectors } = factorizer.measured();
  const byLength = factorizer.byLength();
  const items = byLength.items.filter((_, at) => byLength.lengths[at] > 0);
  const bestOf = bestByProducts(vectors, { ...byLength, items }, scratch[0], CANDIDATES);
  return (user, excluded) => bestOf(user, excluded).sorted();
}

/**
 * Finds candidates by the dot products of user and item vectors. `change` modifies the scores in place before they are
 * compared.
 */
export function candidatesByScores(
  factors: Factors,
  items: number,
  change: (user: number, scores: Float32Array) => void,
): CandidatesOf {
  const scoresOf = scorer(factors, items);
  return (user, excluded) => {
    const scores = scoresOf(user);
    change(user, scores);
    for (const item of excluded) scores[item] = Number.NEGATIVE_INFINITY;
    const found = topIndices(scores, CANDIDATES);
    return { items: found, scores: found.map((item) => scores[item]) };
  };
}

/** Returns a function that computes the scores of all items for a user. The next call overwrites the array. */
export function scorer(
  { stride, userVectors, itemVectors }: Factors,
  items: number,
): (user: number) => Float32Array {
  const rows = paddedRows(items);
  const kernel = new Kernel(arrayBytes(rows * stride) + arrayBytes(stride) + arrayBytes(rows));
  const [vectors, vector, out] = [kernel.floats(rows * stride), kernel.floats(stride), kernel.floats(rows)];
  vectors.set(itemVectors);
  return (user) => {
    vector.set(userVectors.subarray(user * stride, (user + 1) * stride));
    kernel.run.scores(vectors.byteOffset, items, stride, vector.byteOffset, out.byteOffset);
    return out.subarray(0, items);
  };
}
