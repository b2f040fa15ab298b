import { type Interactions, rowOf, type TimedInteractions } from "../interactions";
import { OrderScores } from "./order-scores";
import { latestFirst, type OrderRule, type Sequence, sequenceOf } from "./rule";
import { stepsOf, type Transitions, transitionsOf } from "./transitions";

/** Settings of the order of events, which a training chooses. */
export interface OrderSetting {
  /** Weight of the order scores, after they are scaled to be as high as the dot products of vectors. */
  readonly share: number;
  readonly recency: number;
  readonly gapExponent: number;
  readonly popularityExponent: number;
}

/**
 * Values that hardly differ between datasets, found on sequences of purchases without their last two items, and on
 * artificial sequences.
 */
const FIXED = { distance: 6, opposite: 0.4, itemExponent: 0.25 };

/** Number of users whose events show the typical time between two events. */
const GAP_USERS = 5000;
/** Number of users whose scores show how large order scores are. Fewer if there are very many items. */
const SCALE_USERS = 256;
/** Maximum number of scores to compute for these users. */
const SCALE_SCORES = 20_000_000;

/** Largest time in the unit of the model. */
const MOST_STEPS = 2 ** 32 - 2;

/** Interactions with times, prepared to try settings on them. */
export class OrderBasis {
  readonly steps: Uint32Array;
  private readonly times: Pick<OrderRule, "firstTime" | "timeStep" | "typicalGap">;
  private readonly tables = new Map<string, Transitions>();

  /**
   * @param counts number of users of each item
   * @param steps times in the unit of the model, if they are not those of the interactions
   */
  constructor(
    readonly interactions: TimedInteractions,
    private readonly counts: ArrayLike<number>,
    steps?: Uint32Array,
  ) {
    const { time } = interactions;
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const one of time) [first, last] = [Math.min(first, one), Math.max(last, one)];
    const scale = { firstTime: first, timeStep: Math.max(1, Math.ceil((last - first) / MOST_STEPS)) };
    this.steps = steps ?? stepsOf(interactions, scale);
    this.times = { ...scale, typicalGap: scale.timeStep * typicalGap(interactions, this.steps) };
  }

  /** Returns the rule of a setting, with the scale that `share` describes. */
  rule(setting: OrderSetting): OrderRule {
    const { share, ...others } = setting;
    const rule = { ...FIXED, ...others, ...this.times, scale: 1 };
    return { ...rule, scale: share * this.unit(rule) };
  }

  /** Returns the table for a rule. Tables are cached. */
  table(rule: OrderRule): Transitions {
    const key = `${rule.gapExponent} ${rule.popularityExponent}`;
    const table = this.tables.get(key) ?? transitionsOf(this.interactions, this.steps, rule);
    this.tables.set(key, table);
    return table;
  }

  /** Returns the scores by a rule. */
  scores(rule: OrderRule): OrderScores {
    return new OrderScores(rule, this.table(rule), this.counts);
  }

  /** Returns the last items of a user. */
  sequence(rule: OrderRule, user: number): Sequence {
    const { start } = this.interactions;
    return sequenceOf(
      rule,
      rowOf(this.interactions, user),
      this.steps.subarray(start[user], start[user + 1]),
    );
  }

  /** Returns the scale at which the best order score of a user is 1 on average. */
  private unit(rule: OrderRule): number {
    const { users, items } = this.interactions;
    const order = this.scores(rule);
    const scores = new Float32Array(items);
    let [sum, count] = [0, 0];
    const measured = Math.min(SCALE_USERS, Math.ceil(SCALE_SCORES / items));
    for (let user = 0; user < users; user += Math.ceil(users / measured)) {
      const own = rowOf(this.interactions, user);
      if (own.length === 0) continue;
      scores.fill(0);
      order.add(scores, this.sequence(rule, user));
      for (const item of own) scores[item] = 0;
      sum += scores.reduce((best, score) => Math.max(best, score), 0);
      count++;
    }
    return sum > 0 ? count / sum : 0;
  }
}

/** Returns the median of the times between successive items, without items at the same time; 1 if there are none. */
function typicalGap(of: Interactions, steps: Uint32Array): number {
  const gaps: number[] = [];
  for (let user = 0; user < of.users; user += Math.ceil(of.users / GAP_USERS)) {
    const own = steps.subarray(of.start[user], of.start[user + 1]);
    const order = latestFirst(rowOf(of, user), own);
    for (let at = 1; at < order.length; at++) gaps.push(own[order[at - 1]] - own[order[at]]);
  }
  const positive = gaps.filter((gap) => gap > 0).sort((a, b) => a - b);
  return positive[positive.length >> 1] ?? 1;
}
