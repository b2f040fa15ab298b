import { arrayBytes, Kernel, paddedRows } from "../kernel";
import { CANDIDATES } from "../ranking/ranking";
import { topIndices } from "../top";
import type { Factorizer, Factors } from "./ials";
import { firstOfProducts } from "./products";

/** The candidates of a user, best first, without the items given, and their scores. */
export type CandidatesOf = (user: number, had: Uint32Array) => { items: number[]; scores: number[] };

/** Finds candidates by the products of vectors; items without a vector are left out, as nothing is known about them. */
export function candidatesByProducts(factorizer: Factorizer): CandidatesOf {
  const { scratch, ...vectors } = factorizer.measured();
  const byLength = factorizer.byLength();
  const items = byLength.items.filter((_, at) => byLength.lengths[at] > 0);
  const first = firstOfProducts(vectors, { ...byLength, items }, scratch[0], CANDIDATES);
  return (user, had) => first(user, had).sorted();
}

/** Finds candidates by scores that may change once the products are known. */
export function candidatesByScores(
  factors: Factors,
  items: number,
  change: (user: number, scores: Float32Array) => void,
): CandidatesOf {
  const scoresOf = scorer(factors, items);
  return (user, had) => {
    const scores = scoresOf(user);
    change(user, scores);
    for (const item of had) scores[item] = Number.NEGATIVE_INFINITY;
    const found = topIndices(scores, CANDIDATES);
    return { items: found, scores: found.map((item) => scores[item]) };
  };
}

function scorer(
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
