import { norm } from "../linear-algebra";
import { isPlaced } from "../placed";
import { topAmong, topIndices } from "../top";
import type { ItemScores } from "./item-scores";
import type { Preferences } from "./preferences";
import { type Selection, weigh } from "./selection";
import type { ServableModel } from "./servable";

/** The parts of a recommender that similar items are computed from. */
interface Vectors {
  readonly model: Pick<ServableModel, "exposure">;
  /** Number of items. */
  readonly items: number;
  /** Returns the vector of an item; a zero vector if the model does not know the item. */
  vectorOf(item: number): Float32Array;
  /**
   * Returns the product of each item's vector with a direction, or the popularity of the items if it is null. If `among`
   * is given, only these items need a score.
   */
  scores(direction: Preferences | null, among?: Uint32Array): Float32Array;
}

/**
 * Finds similar items by the cosine of their vectors. Items without events have vectors from their attributes, so they
 * are compared by these.
 */
export class Similarity {
  /** Lengths of the vectors. Undefined until they are needed. */
  private norms: Float32Array | undefined;

  constructor(
    private readonly vectors: Vectors,
    private readonly itemScores: Pick<ItemScores, "isSearchable" | "closest">,
  ) {}

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
    const excluded = [...exclude];
    const isPlain = !among && weights.length === 0 && !this.isPenalized;
    if (direction && isPlain && this.itemScores.isSearchable(limit + excluded.length))
      return this.itemScores.closest(direction, this.lengths(), limit, excluded);
    const scores = this.vectors.scores(direction && { vector: direction, chosen: [] }, among);
    if (direction) this.normalize(scores, among);
    weigh(scores, weights);
    for (const item of excluded) scores[item] = Number.NEGATIVE_INFINITY;
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

  private get isPenalized(): boolean {
    return (this.vectors.model.exposure?.popularityPenalty ?? 0) > 0;
  }

  /** Divides scores by the lengths of the vectors. Items without a vector keep their score, which is the lowest. */
  private normalize(scores: Float32Array, among?: Uint32Array): void {
    const lengths = this.lengths();
    const divide = (item: number) => {
      if (isPlaced(scores[item])) scores[item] /= lengths[item] || 1;
    };
    if (among) for (const item of among) divide(item);
    else for (let item = 0; item < scores.length; item++) divide(item);
  }

  private lengths(): Float32Array {
    const { vectors } = this;
    const { items } = vectors;
    if (!this.norms || this.norms.length < items)
      this.norms = Float32Array.from({ length: items + (items >> 3) }, (_, item) =>
        norm(vectors.vectorOf(item)),
      );
    return this.norms;
  }
}
