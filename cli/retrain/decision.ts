import { digest } from "../../client/state-directory";
import { findWatched, type Release } from "../release/history";
import type { ModelAge } from "./model-age";
import { hasLimits, modelTitle, type StalenessLimits, staleReasons } from "./staleness";

/** Evidence for the decision about a retraining. */
export interface RetrainEvidence {
  /** The history of the stack, oldest first. */
  readonly releases: readonly Release[];
  readonly ages: readonly ModelAge[];
  readonly limits: StalenessLimits;
  /** Configuration key of the trigger, with its namespace. */
  readonly key: string;
  /** Value of the trigger in the configuration. */
  readonly current: string | undefined;
  readonly isPinned: boolean;
  readonly now: number;
}

/** Decision about a retraining. */
export type RetrainDecision =
  /** No model is stale. */
  | { readonly kind: "none" }
  /** Another change of the stack was interrupted, is still running, or is watched. */
  | { readonly kind: "unfinished"; readonly entry: Release }
  | {
      readonly kind: "train";
      /** Value of the trigger. */
      readonly value: string;
      readonly because: readonly string[];
      /** The interrupted entry to continue. */
      readonly resumed?: Release;
      /** Whether the configuration has the trigger of an earlier attempt, so the program already differs from the stack. */
      readonly isRetry: boolean;
      /** Whether the retraining would undo a rollback that somebody ran. */
      readonly endsRollback: boolean;
    };

/** A failed attempt is repeated with the same trigger until it is this old, if no age limit is given. */
const retryMs = 7 * 24 * 3_600_000;

/**
 * Decides whether to train again. A killed or failed attempt keeps its trigger value, so the training that it has
 * submitted is used and no second one begins. If the failed attempt is too old, the next one gets a new value.
 */
export function decideRetraining(evidence: RetrainEvidence): RetrainDecision {
  const { releases, ages, limits, key, current, isPinned, now } = evidence;
  const newest = releases.at(-1);
  if (newest?.status === "running") {
    const { action, retraining } = newest;
    if (action !== "retrain" || retraining?.key !== key) return { kind: "unfinished", entry: newest };
    const { value, because } = retraining;
    return { kind: "train", value, because, resumed: newest, isRetry: true, endsRollback: false };
  }
  const watched = findWatched(releases);
  if (watched) return { kind: "unfinished", entry: watched };
  const reasons = ages.flatMap((age) =>
    staleReasons(age, limits, now).map((reason) => `${modelTitle(age)}: ${reason}`),
  );
  if (hasLimits(limits) && reasons.length === 0) return { kind: "none" };
  const because = reasons.length > 0 ? reasons : ["no limit was given"];
  const failed = newest?.action === "retrain" && newest.status === "failed" ? newest : undefined;
  const set = failed?.retraining;
  const isRetry = set?.key === key && set.value === current;
  const common = { kind: "train", because, isRetry, endsRollback: isPinned && !failed } as const;
  const isRecent = failed !== undefined && now - Date.parse(failed.beganAt) < (limits.maxAgeMs ?? retryMs);
  if (isRetry && isRecent && hasLimits(limits)) return { ...common, value: set.value };
  return { ...common, value: newTrigger(evidence) };
}

/**
 * Returns a value that no earlier retraining has used. It depends only on the live models and the history, so two
 * machines that decide at the same time choose the same value, and only the first one trains.
 */
function newTrigger({ ages, releases, current }: RetrainEvidence): string {
  const base = `after-${digest(ages.map(({ modelId }) => modelId).sort()).slice(0, 8)}`;
  const used = new Set([current, ...releases.map(({ retraining }) => retraining?.value)]);
  let value = base;
  for (let number = 2; used.has(value); number++) value = `${base}-${number}`;
  return value;
}
