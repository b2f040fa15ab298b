import { exposureRule } from "../exposure";
import { itemCounts } from "../interactions";
import type { OrderSetting } from "../order/basis";
import { evaluate, type Quality } from "./evaluation";
import { averageQuality, type Fold, measuredUsers } from "./fold";
import { createFolds, type FoldOptions } from "./folds";
import type { HoldOutKind } from "./latest";
import type { G1Parameters, TrainingReport } from "./model";
import { OrderTrials } from "./order-search";
import type { NeighbourPoint, Point } from "./point";

/** Settings of `TrialBench`. */
export interface TrialOptions extends FoldOptions {
  readonly given: G1Parameters;
  /** Length of the longest vectors that will be tried. Memory is allocated for them once. */
  readonly maxDimensions: number;
}

/**
 * Measures the quality of points on held-out pairs, and caches the results. The quality in the report is measured on
 * users that no trial has used, with the vectors of the first fold.
 */
export class TrialBench {
  /**
   * NDCG@20 of each trial. A trial that compares several neighbour settings counts once, with the highest NDCG of them.
   */
  readonly trials: number[] = [];
  /** Which pairs are held out. */
  readonly kind: HoldOutKind;
  /** Whether trials use a sample of the users. */
  readonly isSample: boolean;
  private readonly folds: readonly Fold[];
  private readonly given: G1Parameters;
  private readonly maxDimensions: number;
  private readonly known = new Map<string, Quality>();

  constructor(options: TrialOptions) {
    const { folds, kind, isSample } = createFolds(options);
    this.folds = folds;
    this.kind = kind;
    this.isSample = isSample;
    this.given = options.given;
    this.maxDimensions = options.maxDimensions;
  }

  /** Whether there are held-out pairs to choose parameters on. */
  get possible(): boolean {
    return this.folds.some(({ choosing }) => choosing.users.length > 0);
  }

  /**
   * Returns the quality of a point after each of several numbers of epochs, given in ascending order. All are measured
   * during one training.
   * @param reports if given, receives the quality on the users of the report for each number of epochs
   */
  trace(point: Point, epochs: readonly number[], reports?: Map<number, Quality>): Quality[] {
    const keys = epochs.map((count) => keyOf(point, count, point.neighbours.share > 0));
    if (reports || !keys.every((key) => this.known.has(key))) {
      const qualities = epochs.map((count) => {
        const [quality] = this.measure(point, count, [point.neighbours]);
        reports?.set(count, this.reportedQuality(point, count));
        return quality;
      });
      qualities.forEach((quality, at) => {
        this.known.set(keys[at], quality);
      });
    }
    return keys.map((key) => this.known.get(key) as Quality);
  }

  /** Returns the quality of a point with each of several neighbour settings, all measured on the same users. */
  compareNeighbours(point: Point, epochs: number, settings: readonly NeighbourPoint[]): Quality[] {
    const keys = settings.map((neighbours) => keyOf({ ...point, neighbours }, epochs, true));
    const unknown = settings.filter((_, at) => !this.known.has(keys[at]));
    if (unknown.length > 0) {
      const qualities = this.measure(point, epochs, unknown, true);
      unknown.forEach((neighbours, at) => {
        this.known.set(keyOf({ ...point, neighbours }, epochs, true), qualities[at]);
      });
    }
    return keys.map((key) => this.known.get(key) as Quality);
  }

  /**
   * Returns how much NDCG@20 each measured user gains with another neighbour setting than that of the point. Each user
   * counts once per fold.
   */
  gains(point: Point, epochs: number, neighbours: NeighbourPoint): number[] {
    return this.choosingFolds.flatMap((fold) => {
      const factorizer = fold.trained(point, epochs, this.given, this.maxDimensions);
      const settings = [point.neighbours, neighbours];
      const [before = [], after = []] = fold.measureUsers(fold.choosing, factorizer, settings, true);
      return after.map(({ ndcg20 }, at) => ndcg20 - before[at].ndcg20);
    });
  }

  /**
   * Reports the quality of a point, and of recommending the most popular items, on pairs that were not used to choose
   * parameters.
   */
  report(point: Point, epochs: number, measured?: Quality): Omit<TrainingReport, "trials"> {
    const { train, excluded, reporting } = this.folds[0];
    const { test } = reporting;
    const users = measuredUsers(reporting, point.neighbours.share > 0);
    if (users.length === 0) return { quality: null, popularity: null, heldOut: { pairs: 0, users: 0 } };
    const counts = Float32Array.from(itemCounts(train));
    const pairs = users.reduce((sum, user) => sum + test.start[user + 1] - test.start[user], 0);
    return {
      quality: measured ?? this.reportedQuality(point, epochs),
      popularity: evaluate({ train: excluded, test }, users, () => counts.slice()),
      heldOut: { pairs, users: users.length, kind: this.kind },
    };
  }

  /** Returns trials of order settings with the vectors of a point; null if there are no times. */
  orderTrials(point: Point, epochs: number): OrderTrials | null {
    const [first] = this.folds;
    const { timed } = first;
    if (!timed) return null;
    const factors = () => first.trained(point, epochs, this.given, this.maxDimensions).factors();
    return new OrderTrials(first, timed, point, factors);
  }

  /** Returns the quality of an order setting on the users of the report. */
  reportedOrder(trials: OrderTrials, setting: OrderSetting, point: Point): Quality {
    const users = measuredUsers(this.folds[0].reporting, point.neighbours.share > 0);
    return trials.report(users, setting, exposureRule(this.given));
  }

  /** Measures the lists that users of the report would be shown, including diversity and popularity penalty. */
  private reportedQuality(point: Point, epochs: number): Quality {
    const { neighbours } = point;
    const [first] = this.folds;
    const factorizer = first.trained(point, epochs, this.given, this.maxDimensions);
    const exposure = exposureRule(this.given);
    return first.measure(first.reporting, factorizer, [neighbours], neighbours.share > 0, exposure)[0];
  }

  private get choosingFolds(): Fold[] {
    return this.folds.filter(({ choosing }) => choosing.users.length > 0);
  }

  private measure(
    point: Point,
    epochs: number,
    settings: readonly NeighbourPoint[],
    fewer = settings.some(({ share }) => share > 0),
  ): Quality[] {
    const perFold = this.choosingFolds.map((fold) => {
      const factorizer = fold.trained(point, epochs, this.given, this.maxDimensions);
      return fold.measure(fold.choosing, factorizer, settings, fewer);
    });
    const found = settings.map((_, at) => averageQuality(perFold.map((qualities) => qualities[at])));
    this.trials.push(Math.max(...found.map(({ ndcg20 }) => ndcg20)));
    return found;
  }
}

/**
 * Returns the cache key of a measurement. Rounds the strength, because a step forward and back does not return to
 * exactly the same number.
 */
function keyOf(point: Point, epochs: number, fewer: boolean): string {
  return JSON.stringify([{ ...point, strength: point.strength.toPrecision(6) }, epochs, fewer]);
}
