import { norm } from "../linear-algebra";
import { isPlaced } from "../placed";
import { topAmong, topIndices } from "../top";
import { type Selection, weigh } from "./selection";

/** The parts of a recommender that similar items are computed from. */
interface Vectors {
  /** Number of items. */
  readonly items: number;
  /** Returns the vector of an item; a zero vector if the model does not know the item. */
  vectorOf(item: number): Float32Array;
  /** Returns the product of each item's vector with a direction, or the popularity of the items if it is null. */
  scores(
    direction: { readonly vector: Float32Array; readonly chosen: readonly number[] } | null,
  ): Float32Array;
}

/**
 * Finds similar items by the cosine of their vectors. Items without events have vectors from their attributes, so they
 * are compared by these.
 */
export class Similarity {
  /** Lengths of the vectors. Undefined until they are needed. */
  private norms: Float32Array | undefined;

  constructor(private readonly vectors: Vectors) {}

  /** Updates the length of an item's vector. */
  placed(item: number): void {
    if (this.norms && item < this.norms.length) this.norms[item] = norm(this.vectors.vectorOf(item));
  }

  /**
   * Returns the items that are most similar to given items, best first. If no given item has a vector, these are the
   * most popular items.
   */
  best(
    to: readonly number[],
    limit: number,
    exclude: Iterable<number>,
    { among, weights = [] }: Selection = {},
  ): number[] {
    const direction = this.directionOf(to);
    const scores = this.vectors.scores(direction && { vector: direction, chosen: [] });
    if (direction) this.normalize(scores);
    weigh(scores, weights);
    for (const item of exclude) scores[item] = Number.NEGATIVE_INFINITY;
    return among ? topAmong(scores, among, limit) : topIndices(scores, limit);
  }

  /** Returns the sum of the directions of some items; null if none of them has a vector. */
  private directionOf(items: readonly number[]): Float32Array | null {
    let sum: Float32Array | null = null;
    for (const item of items) {
      const vector = this.vectors.vectorOf(item);
      const length = norm(vector);
      if (length === 0) continue;
      const direction: Float32Array = sum ?? new Float32Array(vector.length);
      for (let k = 0; k < direction.length; k++) direction[k] += vector[k] / length;
      sum = direction;
    }
    return sum;
  }

  /** Divides scores by the lengths of the vectors. Items without a vector keep their score, which is the lowest. */
  private normalize(scores: Float32Array): void {
    const { vectors } = this;
    const { items } = vectors;
    if (!this.norms || this.norms.length < items)
      this.norms = Float32Array.from({ length: items + (items >> 3) }, (_, item) =>
        norm(vectors.vectorOf(item)),
      );
    const { norms } = this;
    for (let item = 0; item < scores.length; item++)
      if (isPlaced(scores[item])) scores[item] /= norms[item] || 1;
  }
}
