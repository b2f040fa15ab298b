import { titleOf } from "../../../provider/run/urn";
import { wrapText } from "../../terminal/layout";
import { formatNumber } from "../../terminal/output";
import type { Finding, Fix, Orphan, Report, StackReport, Unmanaged } from "../finding";
import { notesOf } from "./notes";
import {
  comparisonsOf,
  dangerCounts,
  locationText,
  orphanDetails,
  propertyText,
  summaryLine,
  unobservableOf,
  withoutControls,
} from "./wording";

const width = 80;

/** Renders a report for the terminal. */
export function renderText({ stacks }: Report): string {
  return `${stacks.map(stackText).join("\n\n")}\n`;
}

function stackText(report: StackReport): string {
  const dangers = dangerCounts(report);
  const lines = [...wrapped(summaryLine(report), 0), ...(dangers ? [`Dangerous: ${dangers}`] : [])];
  for (const { title, subtitle, findings, apply, accept } of comparisonsOf(report)) {
    if (findings.length === 0) continue;
    lines.push("", `${title} (${subtitle})`);
    for (const finding of findings) lines.push("", ...findingText(finding, apply, accept));
    if (findings === report.drift && findings.length > 1) {
      const { apply: revert, accept: acceptAll } = report.fixes;
      lines.push("", "  All drift at once", ...fixText("revert", { command: revert }));
      lines.push(...fixText("accept", { command: acceptAll }));
    }
  }
  if (report.unmanaged.length > 0) {
    lines.push("", "Unmanaged (in the service, but in no given stack)");
    for (const found of report.unmanaged) lines.push("", ...unmanagedText(found));
  }
  if (report.orphans.length > 0) {
    lines.push("", "Orphaned (left behind, and not used by any given stack)");
    for (const found of report.orphans) lines.push("", ...orphanText(found));
  }
  for (const { title, entries } of notesOf(report)) {
    lines.push("", title, ...entries.flatMap((entry) => wrapText(entry, "  ", "    ", width).split("\n")));
  }
  const { wholly, partly } = unobservableOf(report);
  if (wholly.length > 0) {
    const names = wholly.map(({ resource }) => titleOf(resource));
    lines.push("", `Not observable: ${formatNumber(wholly.length)}, which may have drifted`);
    lines.push(...wrapped(names.join(", "), 2));
  }
  if (partly.length > 0) {
    const parts = partly.map(({ resource, part }) => `${titleOf(resource)}: not ${part}`);
    lines.push("", `Observed in part: ${formatNumber(partly.length)}`, ...wrapped(parts.join(", "), 2));
  }
  for (const warning of report.warnings) lines.push("", ...wrapped(`Warning: ${warning}`, 0));
  return lines.map(withoutControls).join("\n");
}

function findingText(finding: Finding, apply: string, accept: string): string[] {
  const head = `  ${titleOf(finding.resource)} ${finding.kind}`;
  const note = [finding.effect, finding.protected && "protected", locationText(finding)]
    .filter(Boolean)
    .join(", ");
  const gap = width - head.length - note.length;
  return [
    ...(gap >= 2 ? [`${head}${" ".repeat(gap)}${note}`] : [head, ...wrapped(note, 4)]),
    ...finding.properties.flatMap((property) => wrapped(propertyText(property), 4)),
    ...wrapped(finding.consequence, 4),
    ...fixText(apply, finding.fixes.apply),
    ...fixText(accept, finding.fixes.accept),
  ];
}

function orphanText(found: Orphan): string[] {
  const details = orphanDetails(found);
  return [
    `  ${found.type} ${found.name} (${found.id})`,
    ...(details ? wrapped(details, 4) : []),
    ...fixText("delete", found.fixes.apply),
  ];
}

function unmanagedText({ type, name, id, projectId, fixes }: Unmanaged): string[] {
  const project = projectId === undefined ? "" : ` of project ${projectId}`;
  const title = `  ${type} ${name} (${id})${project}`;
  return [title, ...fixText("delete", fixes.apply), ...fixText("adopt", fixes.accept)];
}

function fixText(title: string, { edit, command }: Fix): string[] {
  const steps = [
    ...(edit === undefined ? [] : wrapped(edit, 14).map((line) => line.trimStart())),
    ...(command === undefined ? [] : continued(command, 14)),
  ];
  return steps.map((step, at) => `    ${(at === 0 ? title : "").padEnd(10)}${step}`);
}

function wrapped(text: string, indent: number): string[] {
  const margin = " ".repeat(indent);
  return wrapText(text, margin, margin, width).split("\n");
}

/** Matches the words of a command that `shellQuote` has quoted, with single quotes and backslashes. */
const shellWords = /(?:'[^']*'|\\.|[^\s'\\])+/g;

/** Splits a long command into lines that end with a backslash, so users can still copy it into a shell. */
function continued(command: string, indent: number): string[] {
  const words = command.match(shellWords) ?? [];
  if (indent + command.length <= width || words.join(" ") !== command) return [command];
  // Never separate an option from its value.
  const ends = words.flatMap((word, at) => (at > 0 && word.startsWith("--") ? [at] : []));
  const parts = [0, ...ends].map((from, at) => words.slice(from, ends[at]).join(" "));
  const lines: string[] = [];
  let line = "";
  for (const part of parts) {
    if (line && indent + line.length + part.length + 3 > width) {
      lines.push(`${line} \\`);
      line = `  ${part}`;
    } else line = line ? `${line} ${part}` : part;
  }
  return [...lines, line];
}
