import { BLOCK } from "../blocks";
import { power } from "../neighbours";
import type { OrderRule, Sequence } from "./rule";
import { subtractUser, type Transitions } from "./transitions";

/** Scores items by how often users chose them after a user's last items. */
export class OrderScores {
  private readonly itemFactors: Float32Array;
  private readonly popularityFactors: Float32Array;

  /**
   * @param table changed in place when a user is forgotten
   * @param counts number of users of each item
   */
  constructor(
    private readonly rule: OrderRule,
    private readonly table: Transitions,
    counts: ArrayLike<number>,
  ) {
    const factors = (exponent: number, scale: number) =>
      Float32Array.from({ length: counts.length }, (_, item) => scale * power(counts[item], exponent));
    this.itemFactors = factors(rule.itemExponent, rule.scale);
    this.popularityFactors = factors(rule.popularityExponent, 1);
  }

  /**
   * Adds the scores for a user's last items.
   * @param marked gets a mark for each block of items with such a score
   */
  add(scores: Float32Array, { items, weights }: Sequence, marked?: Uint8Array): void {
    const { itemFactors, popularityFactors } = this;
    const { start, index, amount } = this.table;
    for (let place = 0; place < items.length; place++) {
      const item = items[place];
      const factor = weights[place] * itemFactors[item];
      const to = start[item + 1];
      for (let at = start[item]; at < to; at++) {
        const next = index[at];
        if (marked) marked[Math.floor(next / BLOCK)] = 1;
        scores[next] += factor * amount[at] * popularityFactors[next];
      }
    }
  }

  /** Returns how much each of a user's last items adds to the score of each target. */
  contributions({ items, weights }: Sequence, targets: readonly number[]): Float64Array[] {
    const places = new Map(targets.map((target, at) => [target, at]));
    const { start, index, amount } = this.table;
    return Array.from(items, (item, place) => {
      const adds = new Float64Array(targets.length);
      const factor = weights[place] * this.itemFactors[item];
      for (let at = start[item]; at < start[item + 1]; at++) {
        const target = places.get(index[at]);
        if (target !== undefined) adds[target] = factor * amount[at] * this.popularityFactors[index[at]];
      }
      return adds;
    });
  }

  /** Removes what a user added to the table. `steps` are the times of the user's items in the unit of the model. */
  forget(items: ArrayLike<number>, steps: ArrayLike<number>): void {
    subtractUser(this.table, this.rule, items, steps);
  }
}
