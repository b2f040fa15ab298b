import { OrderScores } from "../order/order-scores";
import { LAST, type OrderRule, type Sequence, sequenceOf, stepOf } from "../order/rule";
import { NONE } from "../ranking/ranking";
import type { UserItem } from "./fold-in";
import type { Sequences, ServableModel } from "./servable";

/** The part of a recommender that uses the order of events. */
export class OrderPart {
  private readonly scores: OrderScores;

  private constructor(
    private readonly rule: OrderRule,
    model: ServableModel,
    private readonly learned: Sequences | null,
  ) {
    const table = (model.order as NonNullable<ServableModel["order"]>).table;
    // The amounts are copied, because they change when users are forgotten.
    const own = { ...table, amount: table.amount.slice() };
    this.scores = new OrderScores(rule, own, model.learned.itemUsers);
  }

  /** Returns the part for a model; null if the model does not use the order of events. */
  static of(model: ServableModel): OrderPart | null {
    return model.order ? new OrderPart(model.order.rule, model, model.learned.sequences) : null;
  }

  /** Adds the scores for a user's last items. `marked` gets a mark for each block of items with such a score. */
  add(scores: Float32Array, sequence: Sequence, marked?: Uint8Array): void {
    this.scores.add(scores, sequence, marked);
  }

  /** Returns the last of a user's items by the times of their events. The model must know all of them. */
  sequenceOf(items: readonly UserItem[]): Sequence {
    const known = items.filter(({ weight }) => weight > 0);
    const steps = known.map(({ time }) => stepOf(this.rule, time ?? this.rule.firstTime));
    return sequenceOf(
      this.rule,
      known.map(({ item }) => item),
      steps,
    );
  }

  /** Returns the last items of a user at the time of training. */
  learnedSequence(user: number): Sequence | undefined {
    if (!this.learned) return undefined;
    const [from, to] = [user * LAST, (user + 1) * LAST];
    const padded = this.learned.items.subarray(from, to);
    const length = padded.indexOf(NONE);
    const items = length < 0 ? padded : padded.subarray(0, length);
    return sequenceOf(this.rule, items, this.learned.steps.subarray(from, to));
  }

  /** Returns how much each of a user's last items adds to the score of each target. */
  contributions(items: readonly UserItem[], targets: readonly number[]): Map<number, Float64Array> {
    const sequence = this.sequenceOf(items);
    const adds = this.scores.contributions(sequence, targets);
    return new Map(Array.from(sequence.items, (item, place) => [item, adds[place]]));
  }

  /** Forgets which items a user had last. `unlearn` removes the user from the table. */
  forget(user: number): void {
    this.learned?.items.fill(NONE, user * LAST, (user + 1) * LAST);
  }

  /** Removes a forgotten user from the table. `steps` are the times of the user's items in the unit of the model. */
  unlearn(items: readonly number[], steps: ArrayLike<number>): void {
    if (steps.length === items.length) this.scores.forget(items, steps);
  }
}
