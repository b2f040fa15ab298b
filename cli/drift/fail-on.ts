import type { Finding, Report } from "./finding";

/** What may end the command with exit code 2. */
export const failConditions = ["drift", "changes", "replace", "unmanaged", "orphans", "none"] as const;

/** One of them. */
export type FailCondition = (typeof failConditions)[number];

/** Whether a report holds what is to fail. */
export function shouldFail({ stacks }: Report, on: readonly FailCondition[]): boolean {
  const holds: Readonly<Record<FailCondition, boolean>> = {
    drift: stacks.some(({ drift }) => drift.length > 0),
    changes: stacks.some(({ changes }) => changes.length > 0),
    replace: stacks.some(({ changes, drift }) => changes.some(removesResource) || drift.some(revertReplaces)),
    unmanaged: stacks.some(({ unmanaged }) => unmanaged.length > 0),
    orphans: stacks.some(({ orphans }) => orphans.length > 0),
    none: false,
  };
  return on.some((failure) => holds[failure]);
}

function removesResource({ kind }: Finding): boolean {
  return kind === "replaced" || kind === "deleted";
}

function revertReplaces({ properties }: Finding): boolean {
  return properties.some(({ replaces }) => replaces);
}
