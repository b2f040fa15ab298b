import { type Interactions, selectUsers, usersWithItems, without } from "../interactions";
import { createRandom, DEFAULT_SEED, sample } from "../random";
import type { Budget } from "./effort";
import { type HoldOut, holdOut } from "./evaluation";
import { Fold, type HeldOutPairs } from "./fold";
import { type HoldOutKind, holdOutLatest } from "./latest";
import { heldOutShare, isSparse, type ReportUsers, reportUsersOf } from "./report-users";
import type { Team } from "./team";

/** Estimated cost of each user and each item in a trial with long vectors, in pairs. */
const ROW_PAIRS = 24;

/** Events of types other than the target. Trials learn from them, but are not measured on them. */
export interface OtherEvents {
  readonly pairs: Interactions | null;
  /** Whether to recommend an item to a user who has events on it, but no target event. */
  readonly recommendSeen: boolean;
}

/** Settings of `createFolds`. */
export interface FoldOptions {
  /** Pairs of the target event. */
  readonly interactions: Interactions;
  readonly budget: Budget;
  readonly team: Team;
  readonly others?: OtherEvents | undefined;
  /**
   * Number of pairs that determines the sample and the number of folds. By default, all pairs in `interactions` and
   * `others`.
   */
  readonly pairs?: number | undefined;
  /** Users that the report is measured on. Their latest pairs are never used to choose parameters. */
  readonly reportUsers?: ReportUsers | undefined;
}

/** The hold-outs that parameters are tried on. */
export interface Folds {
  readonly folds: readonly Fold[];
  readonly kind: HoldOutKind;
  /** Whether the folds contain only a sample of the users. */
  readonly isSample: boolean;
}

/**
 * Creates the folds. If there are many pairs, they contain only a sample of the users. If there are few, there are
 * several folds.
 */
export function createFolds(options: FoldOptions): Folds {
  const { interactions, budget, team, reportUsers = reportUsersOf(interactions) } = options;
  const { pairs: otherPairs, recommendSeen } = options.others ?? { pairs: null, recommendSeen: true };
  const { pairs = interactions.index.length + (otherPairs?.index.length ?? 0) } = options;
  const { users, items } = interactions;
  const random = createRandom(DEFAULT_SEED);
  const maxPairs = isSparse(pairs, users) ? budget.sparsePairs : budget.pairs;
  const drawn = pairs <= maxPairs ? null : sample(random, users, Math.ceil((users * maxPairs) / pairs));
  const target = drawn ? selectUsers(interactions, drawn) : interactions;
  const others = otherPairs && drawn ? selectUsers(otherPairs, drawn) : otherPairs;
  const isReporting = (user: number) => reportUsers.isReporting[drawn ? drawn[user] : user] === 1;

  const kind: HoldOutKind = interactions.time ? "latest" : "random";
  const hold = (
    of: Interactions,
    share: number,
    fold: number,
    isHeld?: (user: number) => boolean,
  ): HoldOut =>
    kind === "latest"
      ? holdOutLatest(of, share, fold, isHeld)
      : holdOut(of, share, DEFAULT_SEED + fold, isHeld);
  const measuredUsers = Math.min(budget.users, budget.scores / items);
  const drawUsers = (test: Interactions, count: number): HeldOutPairs => {
    const able = usersWithItems(test);
    return { test, users: sample(random, able.length, count).map((at) => able[at]) };
  };

  // The held-out pairs of the report are in no fold, neither to learn from nor to choose parameters.
  const report = hold(target, reportUsers.share, 0, isReporting);
  const reporting = drawUsers(report.test, Math.ceil(measuredUsers / 2));
  const cost = pairs + ROW_PAIRS * (users + items);
  const count = Math.max(1, Math.min(budget.folds, Math.floor(budget.foldedPairs / cost)));
  const share = heldOutShare(pairs, users);
  const folds: Fold[] = [];
  for (let fold = 0; fold < count; fold++) {
    // The report uses the vectors of the first fold, so this fold holds out no other pairs of the report's users.
    const isHeld = fold === 0 ? (user: number) => !isReporting(user) : undefined;
    const { train, test } = hold(report.train, share, fold, isHeld);
    const choosing = drawUsers(test, Math.ceil(measuredUsers / count));
    if (fold > 0 && choosing.users.length === 0) break;
    folds.push(
      new Fold({
        train,
        choosing,
        reporting: fold === 0 ? reporting : { ...reporting, users: new Uint32Array(0) },
        neighbourPairs: budget.neighbourPairs / count,
        team,
        others: others && without(without(others, report.test), test),
        recommendSeen,
      }),
    );
  }
  return { folds, kind, isSample: drawn !== null };
}
