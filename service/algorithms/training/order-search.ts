import type { ExposureRule } from "../exposure";
import { itemCounts, rowOf, type TimedInteractions } from "../interactions";
import { mean } from "../linear-algebra";
import { Neighbours } from "../neighbours";
import { OrderBasis, type OrderSetting } from "../order/basis";
import { createRandom, DEFAULT_SEED } from "../random";
import { topIndices } from "../top";
import { scorer } from "./candidates";
import { CUTOFF, measure, type Quality, WORTHWHILE } from "./evaluation";
import type { Fold, HeldOutPairs } from "./fold";
import type { Factors } from "./ials";
import { shownBy } from "./measuring";
import { isSignificantGain } from "./paired-test";
import { neighbourRule, type Point } from "./point";

/** The setting that the search starts from. */
const FIRST: OrderSetting = { share: 1, recency: 2.5, gapExponent: 0, popularityExponent: 0.2 };

const SHARES = [0.25, 0.5, 1, 2, 4, 8];
/** With the smallest recency, the last item decides, and earlier items only matter if nothing follows it. */
const RECENCIES = [0.25, 0.5, 1, 5, 10];
const GAP_EXPONENTS = [0.25, 0.5, 1];
const POPULARITY_EXPONENTS = [0, 0.1, 0.35, 0.5];

/** Factor by which another value must be better than the value in `FIRST`, which is good on most data. */
const CERTAIN = 1.01;

/**
 * With more data than in the trials, the table improves more than the vectors. On sequences of purchases without their
 * last two items, the best share was 1 in the trials and 2 to 4 on all data.
 */
const SHARE_FOR_ALL = 2;

/** Fewer users cannot show that order helps. */
const MIN_USERS = 30;
/** Maximum number of users for the test whether order is informative. */
const TESTED_USERS = 1000;
/** Maximum number of scores that are kept in memory while settings are compared. */
const MOST_SCORES = 24_000_000;

/** Adapts a setting that the trials have chosen to all of the data. */
export function orderForAllData(setting: OrderSetting): OrderSetting {
  return { ...setting, share: setting.share * SHARE_FOR_ALL };
}

/** Trials of order settings on a fold, with vectors and neighbours that are already chosen. */
export class OrderTrials {
  private readonly counts: Uint32Array;
  private readonly basis: OrderBasis;
  private readonly known = new Map<string, number[]>();
  private readonly users: Uint32Array;
  private base: Float32Array[] | undefined;

  constructor(
    private readonly fold: Fold,
    private readonly timed: TimedInteractions,
    private readonly point: Point,
    private readonly factors: () => Factors,
  ) {
    this.counts = itemCounts(timed);
    this.basis = new OrderBasis(timed, this.counts);
    const most = Math.max(MIN_USERS, Math.floor(MOST_SCORES / timed.items));
    this.users = fold.choosing.users.subarray(0, most);
  }

  /** Chooses a setting, or returns null if the order of events does not help. */
  choose(share?: number): OrderSetting | null {
    if (share === 0 || (share === undefined && !this.isInformative())) return null;
    const shares = share === undefined ? SHARES : [share];
    let best = this.best(shares.map((one) => ({ ...FIRST, share: one })));
    best = this.better(
      best,
      RECENCIES.map((recency) => ({ ...best, recency })),
    );
    best = this.better(
      best,
      GAP_EXPONENTS.map((gapExponent) => ({ ...best, gapExponent })),
    );
    best = this.better(
      best,
      POPULARITY_EXPONENTS.map((popularityExponent) => ({ ...best, popularityExponent })),
    );
    if (share !== undefined) return best;
    const without = this.ndcgs(null);
    const gains = this.ndcgs(best).map((ndcg, at) => ndcg - without[at]);
    const isBetter = this.ndcg(best) > mean(without) * WORTHWHILE && isSignificantGain(gains);
    return isBetter ? best : null;
  }

  /** Measures a setting on the users of the report. */
  report(users: Uint32Array, setting: OrderSetting, exposure: ExposureRule | undefined): Quality {
    const scoresOf = this.scorer();
    const listOf = this.lister(setting, exposure);
    const each = Array.from(users, (user) =>
      measure(listOf(user, scoresOf(user)), rowOf(this.fold.reporting.test, user)),
    );
    return {
      recall20: mean(each.map(({ recall20 }) => recall20)),
      ndcg20: mean(each.map(({ ndcg20 }) => ndcg20)),
    };
  }

  /**
   * Returns whether the true order predicts the held-out items better than a random order of the same items does. Only
   * compares order scores, so it is cheap.
   */
  private isInformative(): boolean {
    const tested = { users: this.users.subarray(0, TESTED_USERS), test: this.fold.choosing.test };
    if (tested.users.length < MIN_USERS) return false;
    const shuffled = new OrderBasis(this.timed, this.counts, shuffledSteps(this.basis));
    const [inOrder, atRandom] = [this.basis, shuffled].map((basis) => this.ndcgsByOrder(basis, tested));
    return isSignificantGain(inOrder.map((ndcg, at) => ndcg - atRandom[at]));
  }

  private ndcgsByOrder(basis: OrderBasis, { users, test }: HeldOutPairs): number[] {
    const rule = basis.rule(FIRST);
    const order = basis.scores(rule);
    const scores = new Float32Array(this.timed.items);
    return Array.from(users, (user) => {
      scores.fill(0);
      order.add(scores, basis.sequence(rule, user));
      for (const item of rowOf(this.fold.excluded, user)) scores[item] = Number.NEGATIVE_INFINITY;
      return measure(topIndices(scores, CUTOFF), rowOf(test, user)).ndcg20;
    });
  }

  private best(settings: readonly OrderSetting[]): OrderSetting {
    return settings.reduce((best, other) => (this.ndcg(other) > this.ndcg(best) ? other : best));
  }

  /** Returns the best of several settings, or `usual` if none is clearly better. */
  private better(usual: OrderSetting, others: readonly OrderSetting[]): OrderSetting {
    const best = this.best(others);
    return this.ndcg(best) > this.ndcg(usual) * CERTAIN ? best : usual;
  }

  private ndcg(setting: OrderSetting): number {
    return mean(this.ndcgs(setting));
  }

  /** Returns the NDCG@20 of each user with a setting, or without order. */
  private ndcgs(setting: OrderSetting | null): number[] {
    const key = JSON.stringify(setting);
    const known = this.known.get(key);
    if (known) return known;
    const listOf = this.lister(setting, undefined);
    const scores = new Float32Array(this.timed.items);
    const measured = this.baseScores().map((base, at) => {
      scores.set(base);
      const user = this.users[at];
      return measure(listOf(user, scores), rowOf(this.fold.choosing.test, user)).ndcg20;
    });
    this.known.set(key, measured);
    return measured;
  }

  private baseScores(): Float32Array[] {
    const scoresOf = this.scorer();
    this.base ??= Array.from(this.users, (user) => scoresOf(user).slice());
    return this.base;
  }

  /** Returns a function that adds order scores to the scores of a user, and returns the best items. */
  private lister(setting: OrderSetting | null, exposure: ExposureRule | undefined) {
    const rule = setting && this.basis.rule(setting);
    const order = rule && this.basis.scores(rule);
    const { stride, itemVectors } = exposure ? this.factors() : { stride: 0, itemVectors: NO_VECTORS };
    const shown = exposure && shownBy({ itemCounts: this.counts, itemVectors, stride }, exposure);
    return (user: number, scores: Float32Array): number[] => {
      if (rule) order?.add(scores, this.basis.sequence(rule, user));
      for (const item of rowOf(this.fold.excluded, user)) scores[item] = Number.NEGATIVE_INFINITY;
      return shown?.(scores) ?? topIndices(scores, CUTOFF);
    };
  }

  /** Returns a function that computes a user's scores by vectors and neighbours. */
  private scorer(): (user: number) => Float32Array {
    const { train } = this.fold;
    const scoresOf = scorer(this.factors(), train.items);
    const rule = neighbourRule(this.point, train);
    const neighbours = rule && new Neighbours(train, rule);
    return (user) => {
      const scores = scoresOf(user);
      neighbours?.add(scores, rowOf(train, user));
      return scores;
    };
  }
}

const NO_VECTORS = new Float32Array(0);

/** Assigns the times of each user's items to these items at random. */
function shuffledSteps({ interactions, steps }: OrderBasis): Uint32Array {
  const random = createRandom(DEFAULT_SEED);
  const shuffled = steps.slice();
  for (let user = 0; user < interactions.users; user++) {
    const [from, to] = [interactions.start[user], interactions.start[user + 1]];
    for (let at = to - 1; at > from; at--) {
      const other = from + random.below(at - from + 1);
      [shuffled[at], shuffled[other]] = [shuffled[other], shuffled[at]];
    }
  }
  return shuffled;
}
