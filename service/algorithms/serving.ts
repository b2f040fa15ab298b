import type { Attributes } from "./attributes";
import { attributeVectors } from "./cold-start";
import { FoldIn } from "./fold-in";
import { itemCounts } from "./interactions";
import { arrayBytes, Kernel, paddedRows } from "./kernel";
import type { TrainedModel } from "./model";
import { topIndices } from "./top";

/** One item of a user and the sum of the values of its events. */
export interface UserItem {
  readonly item: number;
  readonly weight: number;
}

/** Below every score of an item of which something is known. */
const UNKNOWN = -1e30;

/** Ranks items by a trained model; items that came after training follow the model's own in the order given. */
export class Recommender {
  /** Items of the model and those that came after. */
  readonly items: number;
  private readonly kernel: Kernel;
  private readonly itemVectors: Float32Array;
  private readonly vector: Float32Array;
  private readonly out: Float32Array;
  private readonly popularity: Float32Array;
  private readonly unknown: readonly number[];
  private readonly fromAttributes: ((attributes: Attributes | undefined) => Float32Array | null) | null;
  private folding: FoldIn | undefined;

  constructor(
    readonly model: TrainedModel,
    newItems: readonly (Attributes | undefined)[] = [],
  ) {
    const { stride } = model;
    this.items = model.items + newItems.length;
    const rows = paddedRows(this.items);
    this.kernel = new Kernel(arrayBytes(rows * stride) + arrayBytes(stride) + arrayBytes(rows));
    this.itemVectors = this.kernel.floats(rows * stride);
    this.vector = this.kernel.floats(stride);
    this.out = this.kernel.floats(rows);
    this.itemVectors.set(model.itemVectors);
    if (model.itemAttributes) {
      const vectorOf = attributeVectors(model.itemAttributes);
      newItems.forEach((attributes, at) => {
        const vector = vectorOf(attributes);
        if (vector) this.itemVectors.set(vector, (model.items + at) * stride);
      });
    }
    this.popularity = new Float32Array(this.items);
    this.popularity.set(itemCounts(model.interactions));
    this.unknown = Array.from({ length: this.items }, (_, item) => item).filter((item) =>
      isZero(this.itemVectors.subarray(item * stride, (item + 1) * stride)),
    );
    this.fromAttributes = model.userAttributes ? attributeVectors(model.userAttributes) : null;
  }

  /** The trained vector of a user, null when nothing is known of him. */
  userVector(user: number): Float32Array | null {
    const { stride, users, userVectors } = this.model;
    if (user < 0 || user >= users) return null;
    const vector = userVectors.subarray(user * stride, (user + 1) * stride);
    return isZero(vector) ? null : vector;
  }

  /** The vector of a user who came after training, from his attributes; null when they say nothing. */
  vectorFromAttributes(attributes: Attributes | undefined): Float32Array | null {
    return this.fromAttributes?.(attributes) ?? null;
  }

  /** The vector of a user who came after training, from his events; null when the model knows none of the items. */
  vectorFromItems(items: readonly UserItem[]): Float32Array | null {
    this.folding ??= new FoldIn(this.model);
    return this.folding.solve(items);
  }

  /** The best items for a vector, or the most popular ones where there is none, without those excluded. */
  top(vector: Float32Array | null, limit: number, exclude: Iterable<number> = []): number[] {
    const scores = this.scores(vector);
    for (const item of exclude) scores[item] = Number.NEGATIVE_INFINITY;
    return topIndices(scores, limit);
  }

  /** Sorts candidates by this model's scores; those it does not know (out of range) keep their order at the end. */
  rerank(candidates: readonly number[], vector: Float32Array | null): number[] {
    const scores = this.scores(vector);
    const scoreOf = (item: number) => scores[item] ?? Number.NEGATIVE_INFINITY;
    return candidates
      .map((item, place) => ({ item, place, score: scoreOf(item) }))
      .sort((a, b) => (a.score === b.score ? a.place - b.place : b.score - a.score))
      .map(({ item }) => item);
  }

  /** Scores of all items; the array is overwritten by the next call. */
  private scores(vector: Float32Array | null): Float32Array {
    const scores = this.out.subarray(0, this.items);
    if (!vector) {
      scores.set(this.popularity);
      return scores;
    }
    this.vector.set(vector);
    const { itemVectors, vector: placed, out } = this;
    this.kernel.run.scores(
      itemVectors.byteOffset,
      this.items,
      this.model.stride,
      placed.byteOffset,
      out.byteOffset,
    );
    for (const item of this.unknown) scores[item] = UNKNOWN;
    return scores;
  }
}

function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}
