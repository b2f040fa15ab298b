import { truncate } from "../../../contract/messages";
import { shortHashes } from "../../../provider/lifecycle/wording";
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

/** Effects that a reviewer must not overlook. */
const dangerous = effects.slice(0, effects.indexOf("deletes") + 1);

/** Whether applying or reverting a finding destroys, replaces or retrains something. */
export function isDangerous({ effect, kind }: Pick<Finding, "effect" | "kind">): boolean {
  return kind === "not serving" || dangerous.includes(effect);
}

/** A stack in one line: what was found, and how much of it could be looked at. */
export function summaryLine(report: StackReport): string {
  const { stack, changes, drift, unmanaged, orphans, resources, observed } = report;
  const seen = `${formatNumber(observed)} of ${formatCount(resources, "resource")} observed`;
  const parts = [
    drift.length > 0 && `${formatNumber(drift.length)} drifted`,
    changes.length > 0 && `${formatCount(changes.length, "pending change")}`,
    unmanaged.length > 0 && `${formatNumber(unmanaged.length)} unmanaged`,
    orphans.length > 0 && `${formatNumber(orphans.length)} orphaned`,
  ].filter(Boolean);
  const clean = changes.length + drift.length === 0;
  const words = clean ? ["no drift seen, no pending changes", ...parts] : parts;
  return `${stack}: ${words.join(", ")} (${seen})`;
}

/** When the stacks were compared, and with which program. */
export function comparedText({ comparedAt, commit, dirty }: Report): string {
  const program = commit === undefined ? "" : `, at commit ${commit.slice(0, 12)}`;
  const changed = dirty ? " with changes that are not committed" : "";
  return `Compared on ${comparedAt.slice(0, 16).replace("T", " at ")} UTC${program}${changed}`;
}

/** What is dangerous among the findings of a stack, counted by what it does: `1 × loses data, 2 × retrains`. */
export function dangerCounts({ changes, drift }: StackReport): string {
  const found = [...changes, ...drift].filter(isDangerous);
  const named = found.map(({ kind, effect }) => (kind === "not serving" ? kind : effect));
  return ["not serving" as const, ...effects]
    .map((name) => [name, named.filter((other) => other === name).length] as const)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${formatNumber(number)} × ${name}`)
    .join(", ");
}

/** The two comparisons, in the order in which they are shown. */
export function comparisonsOf(report: StackReport) {
  return [
    {
      key: "drift",
      title: "Drift",
      subtitle: "state ↔ service: changed outside the program",
      none: "Nothing that can be observed has drifted.",
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

/** Where the program declares a resource, as `index.ts:12`. */
export function locationText({ location }: Pick<Finding, "location">): string {
  return location ? `${location.file}:${location.line}` : "";
}

/** A declared or actual value as people read it, cut to a length. */
export function valueText(value: PropertyFinding["declared"], most = 200): string {
  if (value === undefined) return "none";
  if (typeof value === "string" && /^\[(secret|not known yet)\]$/.test(value)) return value.slice(1, -1);
  return cut(shortHashes(JSON.stringify(value)), most);
}

/** A text, cut to a length. */
export function cut(text: string, most = 200): string {
  return truncate(text, most);
}

/** The steps of a fix, first what to edit and then what to run. */
export function fixSteps({ edit, command }: Fix): string[] {
  return [edit, command].filter((step) => step !== undefined);
}

/** What is known of an orphan beside its name: who left it, and what keeps it. */
export function orphanDetails({ leftBy, blockedBy }: Orphan): string {
  return [leftBy && `left by ${leftBy}`, blockedBy].filter(Boolean).join("; ");
}

/** What cannot be observed at all, and what of it only in part. */
export function unobservableOf({ unobservable }: StackReport) {
  return {
    wholly: unobservable.filter(({ whole }) => whole),
    partly: unobservable.filter(({ whole }) => !whole),
  };
}

/** The same text without what would move a cursor, end a line or change colours. */
export function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ");
}
