import { type ExposureRule, exposureRule } from "../exposure";
import { type Interactions, itemCounts, selectUsers, without } from "../interactions";
import { createRandom, sample } from "../random";
import type { Budget } from "./effort";
import { evaluate, holdOut, type Quality } from "./evaluation";
import { average, Fold } from "./fold";
import { type HoldOutKind, holdOutLatest } from "./latest";
import type { G1Parameters, TrainingReport } from "./model";
import type { Point } from "./point";
import type { Team } from "./team";

/** What is held out of each user's items: more where there are so few of them that a tenth says little. */
const SHARE = 0.1;
const SHARE_OF_FEW = 0.2;
const FEW_ITEMS = 50;
/** What a user or an item costs in a trial of long vectors, in pairs. */
const ROW_PAIRS = 24;
const SEED = 20_240_229;

/** What other types of events add, and whether what a user has of it alone is recommended to him. */
export interface Others {
  readonly pairs: Interactions | null;
  readonly recommendSeen: boolean;
}

const none: Others = { pairs: null, recommendSeen: true };

/** Tries points on a hold-out: on a sample of users where there are many, on several hold-outs where there are few. */
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
  ) {
    const random = createRandom(SEED);
    this.kind = interactions.time ? "latest" : "random";
    const isSparse = pairs / interactions.users < FEW_ITEMS;
    const most = isSparse ? budget.sparsePairs : budget.pairs;
    const share = isSparse ? SHARE_OF_FEW : SHARE;
    const drawn =
      pairs <= most
        ? null
        : sample(random, interactions.users, Math.ceil((interactions.users * most) / pairs));
    this.isSample = drawn !== null;
    const sampled = drawn ? selectUsers(interactions, drawn) : interactions;
    const beside = others && drawn ? selectUsers(others, drawn) : others;
    const cost = pairs + ROW_PAIRS * (interactions.users + interactions.items);
    const folds = Math.max(1, Math.min(budget.folds, Math.floor(budget.foldedPairs / cost)));
    const maxUsers = Math.ceil(Math.min(budget.users, budget.scores / interactions.items) / folds);
    for (let fold = 0; fold < folds; fold++) {
      const divided =
        this.kind === "latest" ? holdOutLatest(sampled, share, fold) : holdOut(sampled, share, SEED + fold);
      if (divided.test.index.length === 0) break;
      const withAny = Uint32Array.from({ length: sampled.users }, (_, user) => user).filter(
        (user) => divided.test.start[user] !== divided.test.start[user + 1],
      );
      const users = sample(random, withAny.length, maxUsers).map((at) => withAny[at] as number);
      const seen = beside && without(beside, divided.test);
      this.folds.push(new Fold(divided, users, budget.neighbourPairs / folds, team, seen, recommendSeen));
    }
  }

  /** Whether anything could be held out. */
  get possible(): boolean {
    return this.folds.length > 0;
  }

  /** Quality of a point at several moments of one training, given in ascending order; not tried again if all are known. */
  trace(point: Point, moments: readonly number[]): Quality[] {
    const keys = moments.map((epochs) => keyOf(point, epochs, point.neighbours.share > 0));
    if (!keys.every((key) => this.known.has(key))) {
      const qualities = moments.map(
        (moment) => this.measure(point, moment, [point.neighbours])[0] as Quality,
      );
      qualities.forEach((quality, at) => {
        this.known.set(keys[at] as string, quality);
      });
    }
    return keys.map((key) => this.known.get(key) as Quality);
  }

  /** Quality of a point with several ways to let neighbours count, all on those users that there is time for. */
  blends(point: Point, epochs: number, ways: readonly Point["neighbours"][]): Quality[] {
    const keys = ways.map((neighbours) => keyOf({ ...point, neighbours }, epochs, true));
    const unknown = ways.filter((_, at) => !this.known.has(keys[at] as string));
    if (unknown.length > 0) {
      const qualities = this.measure(point, epochs, unknown, true);
      unknown.forEach((neighbours, at) => {
        this.known.set(keyOf({ ...point, neighbours }, epochs, true), qualities[at] as Quality);
      });
    }
    return keys.map((key) => this.known.get(key) as Quality);
  }

  /** Quality of what is shown at a point: the search goes by what fits, so that a choice of exposure changes nothing else. */
  shown(point: Point, epochs: number): Quality {
    const { neighbours } = point;
    const exposure = exposureRule(this.given);
    return this.measure(point, epochs, [neighbours], neighbours.share > 0, exposure)[0] as Quality;
  }

  /** How many users were asked for how many pairs at a point, over all hold-outs. */
  heldOut({ neighbours }: Point): TrainingReport["heldOut"] {
    const users = new Set<number>();
    const pairs = new Set<number>();
    for (const fold of this.folds) {
      const { test } = fold;
      for (const user of fold.asked(neighbours.share > 0)) {
        users.add(user);
        const items = test.index.subarray(test.start[user], test.start[user + 1]);
        for (const item of items) pairs.add(user * test.items + item);
      }
    }
    return { pairs: pairs.size, users: users.size, kind: this.kind };
  }

  /** Quality of the order of popularity for the users that are asked for at a point. */
  popularity({ neighbours }: Point): Quality {
    return average(
      this.folds.map((fold) => {
        const counts = Float32Array.from(itemCounts(fold.train));
        return evaluate({ train: fold.had, test: fold.test }, fold.asked(neighbours.share > 0), () =>
          counts.slice(),
        );
      }),
    );
  }

  private measure(
    point: Point,
    epochs: number,
    ways: readonly Point["neighbours"][],
    fewer = ways.some(({ share }) => share > 0),
    exposure?: ExposureRule,
  ): Quality[] {
    const perFold = this.folds.map((fold) => {
      const factorizer = fold.trained(point, epochs, this.given, this.maxDimensions);
      return fold.measure(factorizer, ways, fewer, exposure);
    });
    const found = ways.map((_, at) => average(perFold.map((qualities) => qualities[at] as Quality)));
    this.trials.push(Math.max(...found.map(({ ndcg20 }) => ndcg20)));
    return found;
  }
}

/** A step there and back does not end at the very same number. */
function keyOf(point: Point, epochs: number, fewer: boolean): string {
  return JSON.stringify([{ ...point, strength: point.strength.toPrecision(6) }, epochs, fewer]);
}
