import type { Finding, Report } from "./finding";

/** Values of `--fail-on`: findings that end the command with exit code 2. */
export const failConditions = ["drift", "changes", "replace", "unmanaged", "orphans", "new", "none"] as const;

/** A value of `--fail-on`. */
export type FailCondition = (typeof failConditions)[number];

/**
 * Whether a report has a finding that `--fail-on` selects. Expired entries of recommender.yaml count unless nothing is
 * selected.
 */
export function shouldFail(
  { stacks }: Pick<Report, "stacks">,
  conditions: readonly FailCondition[],
): boolean {
  const found: Readonly<Record<FailCondition, boolean>> = {
    drift: stacks.some(({ drift }) => drift.length > 0),
    changes: stacks.some(({ changes }) => changes.length > 0),
    replace: stacks.some(({ changes, drift }) => changes.some(removesResource) || drift.some(revertReplaces)),
    unmanaged: stacks.some(({ unmanaged }) => unmanaged.length > 0),
    orphans: stacks.some(({ orphans }) => orphans.length > 0),
    new: stacks.some(({ since }) => since !== undefined && since.added.length > 0),
    none: false,
  };
  const expired = !conditions.includes("none") && stacks.some((stack) => stack.expired.length > 0);
  return expired || conditions.some((condition) => found[condition]);
}

function removesResource({ kind }: Finding): boolean {
  return kind === "replaced" || kind === "deleted";
}

function revertReplaces({ properties }: Finding): boolean {
  return properties.some(({ replaces }) => replaces);
}
