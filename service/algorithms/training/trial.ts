import { exposureRule } from "../exposure";
import { type Interactions, itemCounts, selectUsers, usersWithItems, without } from "../interactions";
import { createRandom, DEFAULT_SEED, sample } from "../random";
import type { Budget } from "./effort";
import { evaluate, holdOut, type Quality } from "./evaluation";
import { average, Fold, type Questions, usersAsked } from "./fold";
import { type HoldOutKind, holdOutLatest } from "./latest";
import type { G1Parameters, TrainingReport } from "./model";
import type { Point } from "./point";
import { heldOutShare, isSparse, reportUsersOf } from "./report-users";
import type { Team } from "./team";

/** What a user or an item costs in a trial of long vectors, in pairs. */
const ROW_PAIRS = 24;
const NOBODY = new Uint32Array(0);

/** What other types of events add, and whether what a user has of it alone is recommended to him. */
export interface Others {
  readonly pairs: Interactions | null;
  readonly recommendSeen: boolean;
}

const none: Others = { pairs: null, recommendSeen: true };

/**
 * Tries points on a hold-out: on a sample of the users if there are many, on several hold-outs if there are few. What is
 * reported of the chosen point is measured on users of the first hold-out whom no trial has asked.
 */
export class TrialBench {
  /** NDCG@20 of each point that was tried; of several ways to let neighbours count, the best. */
  readonly trials: number[] = [];
  /** Which pairs are held out. */
  readonly kind: HoldOutKind;
  /** Whether it tries on some of the users only. */
  readonly isSample: boolean;
  private readonly folds: Fold[] = [];
  private readonly known = new Map<string, Quality>();

  constructor(
    interactions: Interactions,
    private readonly given: G1Parameters,
    private readonly maxDimensions: number,
    budget: Budget,
    team: Team,
    /** What other types of events add; nothing of it is asked for. */
    { pairs: others, recommendSeen }: Others = none,
    /** Pairs by which it is decided how much there is time for. */
    pairs = interactions.index.length + (others?.index.length ?? 0),
    /** Users who are never asked to choose parameters: the report is measured on them. */
    reportUsers = reportUsersOf(interactions),
  ) {
    const random = createRandom(DEFAULT_SEED);
    this.kind = interactions.time ? "latest" : "random";
    const { users, items } = interactions;
    const most = isSparse(pairs, users) ? budget.sparsePairs : budget.pairs;
    const drawn = pairs <= most ? null : sample(random, users, Math.ceil((users * most) / pairs));
    this.isSample = drawn !== null;
    const sampled = drawn ? selectUsers(interactions, drawn) : interactions;
    const beside = others && drawn ? selectUsers(others, drawn) : others;
    const isReporting = (user: number) => reportUsers.isReporting[drawn ? drawn[user] : user] === 1;
    const hold = (of: Interactions, share: number, fold: number, isAsked?: (user: number) => boolean) =>
      this.kind === "latest"
        ? holdOutLatest(of, share, fold, isAsked)
        : holdOut(of, share, DEFAULT_SEED + fold, isAsked);
    const asking = Math.min(budget.users, budget.scores / items);
    const drawnOf = (test: Interactions, count: number): Questions => {
      const able = usersWithItems(test);
      return { test, users: sample(random, able.length, count).map((at) => able[at]) };
    };
    // The pairs for the report are in no fold, neither to learn from nor to ask for.
    const kept = hold(sampled, reportUsers.share, 0, isReporting);
    const reporting = drawnOf(kept.test, Math.ceil(asking / 2));
    const cost = pairs + ROW_PAIRS * (users + items);
    const folds = Math.max(1, Math.min(budget.folds, Math.floor(budget.foldedPairs / cost)));
    const share = heldOutShare(pairs, users);
    for (let fold = 0; fold < folds; fold++) {
      // The first fold is the one that is reported on: nothing else of those users is held out in it.
      const isAsked = fold === 0 ? (user: number) => !isReporting(user) : undefined;
      const { train, test } = hold(kept.train, share, fold, isAsked);
      const choosing = drawnOf(test, Math.ceil(asking / folds));
      const questions = { choosing, reporting: fold === 0 ? reporting : { ...reporting, users: NOBODY } };
      if (fold > 0 && choosing.users.length === 0) break;
      const seen = beside && without(without(beside, kept.test), test);
      this.folds.push(new Fold(train, questions, budget.neighbourPairs / folds, team, seen, recommendSeen));
    }
  }

  /** Whether there are held-out pairs to choose parameters on. */
  get possible(): boolean {
    return this.folds.some(({ choosing }) => choosing.users.length > 0);
  }

  /**
   * Quality of a point at several moments of one training, given in ascending order; not tried again if all are known.
   * It is that of the users asked to choose parameters; with `reports` those of the report are asked at each moment too.
   */
  trace(point: Point, moments: readonly number[], reports?: Map<number, Quality>): Quality[] {
    const keys = moments.map((epochs) => keyOf(point, epochs, point.neighbours.share > 0));
    if (reports || !keys.every((key) => this.known.has(key))) {
      const qualities = moments.map((moment) => {
        const [quality] = this.measure(point, moment, [point.neighbours]);
        reports?.set(moment, this.reported(point, moment));
        return quality;
      });
      qualities.forEach((quality, at) => {
        this.known.set(keys[at], quality);
      });
    }
    return keys.map((key) => this.known.get(key) as Quality);
  }

  /** Quality of a point with several ways to let neighbours count, all on those users that there is time for. */
  blends(point: Point, epochs: number, ways: readonly Point["neighbours"][]): Quality[] {
    const keys = ways.map((neighbours) => keyOf({ ...point, neighbours }, epochs, true));
    const unknown = ways.filter((_, at) => !this.known.has(keys[at]));
    if (unknown.length > 0) {
      const qualities = this.measure(point, epochs, unknown, true);
      unknown.forEach((neighbours, at) => {
        this.known.set(keyOf({ ...point, neighbours }, epochs, true), qualities[at]);
      });
    }
    return keys.map((key) => this.known.get(key) as Quality);
  }

  /** What a training reports of a point: its quality and that of popularity, on users who had no part in the choice. */
  report(point: Point, epochs: number, measured?: Quality): Omit<TrainingReport, "trials"> {
    const [first] = this.folds;
    const { train, had, reporting } = first;
    const { test } = reporting;
    const users = usersAsked(reporting, point.neighbours.share > 0);
    if (users.length === 0) return { quality: null, popularity: null, heldOut: { pairs: 0, users: 0 } };
    const counts = Float32Array.from(itemCounts(train));
    const pairs = users.reduce((sum, user) => sum + test.start[user + 1] - test.start[user], 0);
    return {
      quality: measured ?? this.reported(point, epochs),
      popularity: evaluate({ train: had, test }, users, () => counts.slice()),
      heldOut: { pairs, users: users.length, kind: this.kind },
    };
  }

  /** Quality for the users of the report, of what would be shown to them. */
  private reported(point: Point, epochs: number): Quality {
    const [first] = this.folds;
    const { neighbours } = point;
    const factorizer = first.trained(point, epochs, this.given, this.maxDimensions);
    const exposure = exposureRule(this.given);
    const fewer = neighbours.share > 0;
    return first.measure(first.reporting, factorizer, [neighbours], fewer, exposure)[0];
  }

  private measure(
    point: Point,
    epochs: number,
    ways: readonly Point["neighbours"][],
    fewer = ways.some(({ share }) => share > 0),
  ): Quality[] {
    const asking = this.folds.filter(({ choosing }) => choosing.users.length > 0);
    const perFold = asking.map((fold) => {
      const factorizer = fold.trained(point, epochs, this.given, this.maxDimensions);
      return fold.measure(fold.choosing, factorizer, ways, fewer);
    });
    const found = ways.map((_, at) => average(perFold.map((qualities) => qualities[at])));
    this.trials.push(Math.max(...found.map(({ ndcg20 }) => ndcg20)));
    return found;
  }
}

/** A step there and back does not end at the very same number. */
function keyOf(point: Point, epochs: number, fewer: boolean): string {
  return JSON.stringify([{ ...point, strength: point.strength.toPrecision(6) }, epochs, fewer]);
}
