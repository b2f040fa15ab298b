import type { Release } from "../release/history";

/** The next step of a watch. */
type WatchStep =
  | { readonly kind: "observe" }
  | { readonly kind: "roll back"; readonly violation: string }
  /** `rollback` is the rollback that a violation has caused. */
  | { readonly kind: "finish"; readonly violation?: string; readonly rollback?: Release };

/**
 * Decides how a watch continues. Reads only the history, so a watch that was killed continues where it stopped: it
 * never switches twice, and it completes a rollback that has begun.
 */
export function nextStep({ id, watch }: Release, releases: readonly Release[]): WatchStep {
  if (!watch) throw new Error(`${id} has no watch.`);
  const { violation, observedMs, forMs } = watch;
  if (violation === undefined) return observedMs < forMs ? { kind: "observe" } : { kind: "finish" };
  const rollback = releases.findLast(({ watched, status }) => watched === id && status === "done");
  return rollback ? { kind: "finish", violation, rollback } : { kind: "roll back", violation };
}
