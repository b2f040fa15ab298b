import { truncate } from "../../../contract/messages";
import { shortHashes } from "../../../provider/lifecycle/wording";
import { controlCharacters } from "../../terminal/layout";
import { formatCount, formatNumber } from "../../terminal/output";
import {
  effects,
  type Finding,
  type Fix,
  type Orphan,
  type PropertyFinding,
  type Report,
  type StackReport,
} from "../finding";

/** Effects that reviewers must not overlook. */
const dangerous = effects.slice(0, effects.indexOf("deletes") + 1);

/**
 * Whether a finding is dangerous: its deployment is not serving, or applying or reverting it deletes, replaces,
 * retrains or stops something.
 */
export function isDangerous({ effect, kind }: Pick<Finding, "effect" | "kind">): boolean {
  return kind === "not serving" || dangerous.includes(effect);
}

/** Summarizes a stack in one line: the numbers of findings and of observed resources. */
export function summaryLine(report: StackReport): string {
  const { stack, changes, drift, unmanaged, orphans, accepted, expired, resources, observed } = report;
  const coverage = `${formatNumber(observed)} of ${formatCount(resources, "resource")} observed`;
  const parts = [
    drift.length > 0 && `${formatNumber(drift.length)} drifted`,
    changes.length > 0 && `${formatCount(changes.length, "pending change")}`,
    unmanaged.length > 0 && `${formatNumber(unmanaged.length)} unmanaged`,
    orphans.length > 0 && `${formatNumber(orphans.length)} orphaned`,
    accepted.length > 0 && `${formatNumber(accepted.length)} accepted`,
    expired.length > 0 && `${formatCount(expired.length, "expired acceptance")}`,
  ].filter(Boolean);
  const clean = changes.length + drift.length === 0;
  const other = accepted.length > 0 ? "other " : "";
  const summary = clean ? [`no ${other}drift seen, no ${other}pending changes`, ...parts] : parts;
  return `${stack}: ${summary.join(", ")} (${coverage})`;
}

/** Describes when the stacks were compared, and at which commit of the program. */
export function comparedText({ comparedAt, commit, dirty }: Report): string {
  const program = commit === undefined ? "" : `, at commit ${commit.slice(0, 12)}`;
  const changed = dirty ? " with uncommitted changes" : "";
  return `Compared on ${dateText(comparedAt)}${program}${changed}`;
}

/** Formats a time, as `2026-11-15 at 17:20 UTC`. */
export function dateText(time: string): string {
  return `${time.slice(0, 16).replace("T", " at ")} UTC`;
}

/** Counts the dangerous findings of a stack by effect: `1 × loses data, 2 × retrains`. */
export function dangerCounts({ changes, drift }: StackReport): string {
  const found = [...changes, ...drift].filter(isDangerous);
  const named = found.map(({ kind, effect }) => (kind === "not serving" ? kind : effect));
  return ["not serving" as const, ...effects]
    .map((name) => [name, named.filter((other) => other === name).length] as const)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${formatNumber(number)} × ${name}`)
    .join(", ");
}

/** Returns the two comparisons of a stack in display order: drift, then pending changes. */
export function comparisonsOf(report: StackReport) {
  return [
    {
      key: "drift",
      title: "Drift",
      subtitle: "state ↔ service: changed outside the program",
      none: "No observable resource has drifted.",
      findings: report.drift,
      apply: "revert",
      accept: "accept",
    },
    {
      key: "changes",
      title: "Pending changes",
      subtitle: "program ↔ state: what an update would do",
      none: "The program changes nothing.",
      findings: report.changes,
      apply: "apply",
      accept: "leave it",
    },
  ] as const;
}

/** Formats the difference between the declared and the actual value of a property. */
export function propertyText({ path, declared, actual, accepted }: PropertyFinding): string {
  const note = accepted ? " (accepted)" : "";
  return `${path}: declared ${valueText(declared)}, actual ${valueText(actual)}${note}`;
}

/** Formats the source position of a declaration, as `index.ts:12`. */
export function locationText({ location }: Pick<Finding, "location">): string {
  return location ? `${location.file}:${location.line}` : "";
}

/** Formats a declared or actual value for people. Shortens hashes and long values. */
export function valueText(value: PropertyFinding["declared"], maxLength = 200): string {
  if (value === undefined) return "none";
  if (typeof value === "string" && /^\[(secret|not known yet)\]$/.test(value)) return value.slice(1, -1);
  return truncate(shortHashes(JSON.stringify(value)), maxLength);
}

/** Returns the steps of a fix: the edit, then the command. */
export function fixSteps({ edit, command }: Fix): string[] {
  return [edit, command].filter((step) => step !== undefined);
}

/** Describes which resource left an orphan behind, and why the orphan cannot be deleted yet. */
export function orphanDetails({ leftBy, blockedBy }: Orphan): string {
  return [leftBy && `left by ${leftBy}`, blockedBy].filter(Boolean).join("; ");
}

/** Separates resources that cannot be observed at all from those that are observed in part. */
export function unobservableOf({ unobservable: all }: StackReport) {
  return { wholly: all.filter(({ whole }) => whole), partly: all.filter(({ whole }) => !whole) };
}

/** Replaces control characters, including line breaks, with spaces. */
export function withoutControls(text: string): string {
  return text.replace(controlCharacters, " ");
}
