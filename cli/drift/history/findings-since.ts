import { issuesText } from "../../../contract/messages";
import { titleOf } from "../../../provider/run/urn";
import { readJsonFile } from "../../terminal/json-file";
import { type Announced, type Finding, type Report, reportSchema, type StackReport } from "../finding";

/** Reads an earlier JSON report. Throws if it is about other stacks, because then everything would look new. */
export function readEarlierReport(file: string): Report {
  const read = reportSchema.safeParse(readJsonFile(file));
  if (read.success) return read.data;
  throw new Error(
    `${file} is not a JSON report of recommender drift: ${issuesText(read.error.issues.slice(0, 3))}. ` +
      "Write one with `recommender drift --output drift.json`.",
  );
}

/** Adds to each stack which findings are new or resolved since an earlier report. */
export function compareWithEarlier(report: Report, earlier: Report, file: string): Report {
  const stacks = report.stacks.map((stack) => {
    const before = earlierStack(stack, earlier);
    const { added, resolved } = changesBetween(before ? identify(before) : [], stack);
    const since = { comparedAt: earlier.comparedAt, added, resolved };
    // What the webhook knows must outlive a run without --notify.
    return { ...stack, since, ...(before?.announced && { announced: before.announced }) };
  });
  if (report.stacks.some((stack) => earlierStack(stack, earlier))) return { ...report, stacks };
  const names = earlier.stacks.map(({ project, stack }) => `${project}/${stack}`).join(", ") || "no stacks";
  throw new Error(
    `--since ${file} is a report about ${names}. Pass an earlier report about the same stacks.`,
  );
}

/** Returns an earlier report's part about a stack. */
export function earlierStack({ project, stack }: StackReport, earlier: Report): StackReport | undefined {
  return earlier.stacks.find((other) => other.project === project && other.stack === stack);
}

/** Compares the findings of a stack with earlier ones. */
export function changesBetween(before: readonly Announced[], stack: StackReport) {
  const now = identify(stack);
  const has = (list: readonly Announced[], key: string) => list.some((one) => one.key === key);
  const accepted = stack.accepted.map(({ comparison, finding }) => identityOf(comparison, finding).key);
  return {
    now,
    added: now.filter(({ key }) => !has(before, key)),
    resolved: before
      .filter(({ key }) => !has(now, key))
      .map(({ key, title }) => ({ key, title: accepted.includes(key) ? `${title} (accepted)` : title })),
  };
}

/**
 * Returns the identities of a stack's findings, without accepted ones. A finding keeps its identity while the same
 * properties of the same resource differ, even if their values change.
 */
export function identify({ drift, changes, unmanaged, orphans }: StackReport): Announced[] {
  return [
    ...drift.map((finding) => identityOf("drift", finding)),
    ...changes.map((finding) => identityOf("changes", finding)),
    ...unmanaged.map(({ type, id, name }) => ({
      key: `unmanaged ${type} ${id}`,
      title: `Unmanaged: ${type} ${name} (${id})`,
    })),
    ...orphans.map(({ type, id, name }) => ({
      key: `orphan ${type} ${id}`,
      title: `Orphaned: ${type} ${name} (${id})`,
    })),
  ];
}

function identityOf(comparison: "drift" | "changes", { kind, resource, properties }: Finding): Announced {
  const paths = properties.map(({ path }) => path).sort();
  const comparisonTitle = comparison === "drift" ? "Drift" : "Pending change";
  const shown = paths.length > 3 ? [...paths.slice(0, 3), `${paths.length - 3} more`] : paths;
  const differing = shown.length > 0 ? ` (${shown.join(", ")})` : "";
  return {
    key: `${comparison} ${kind} ${resource.urn} ${paths.join(" ")}`.trimEnd(),
    title: `${comparisonTitle}: ${titleOf(resource)} ${kind}${differing}`,
  };
}
