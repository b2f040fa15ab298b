import { grouped } from "../../output";
import { titleOf } from "../commands";
import type { Finding, Report, StackReport, Unmanaged } from "../finding";
import { comparisonsOf, dangersOf, placeOf, plain, unobservableOf, valueText, verdictOf } from "./words";

const width = 80;

/** A report for the terminal. */
export function renderText({ stacks }: Report): string {
  return `${stacks.map(stackText).join("\n\n")}\n`;
}

function stackText(report: StackReport): string {
  const dangers = dangersOf(report);
  const lines = [verdictOf(report), ...(dangers ? [`Dangerous: ${dangers}`] : [])];
  for (const { title, subtitle, findings, putBack, takeIn } of comparisonsOf(report)) {
    if (findings.length === 0) continue;
    lines.push("", `${title} (${subtitle})`);
    for (const finding of findings) lines.push("", ...findingText(finding, putBack, takeIn));
  }
  if (report.drift.length > 1) {
    const { putBack, takeIn } = report.cures;
    lines.push("", "All drift at once", `  put back  ${putBack}`, `  take in   ${takeIn}`);
  }
  if (report.unmanaged.length > 0) {
    lines.push("", "Unmanaged (there, but in no given stack)");
    for (const found of report.unmanaged) lines.push("", ...unmanagedText(found));
  }
  const { wholly, partly } = unobservableOf(report);
  if (wholly.length + partly.length > 0) {
    const names = wholly.map(({ resource }) => titleOf(resource));
    const parts = partly.map(({ resource, part }) => `${titleOf(resource)}: ${part}`);
    lines.push("", `Not observable: ${grouped(wholly.length)}, which may or may not be in sync`);
    if (names.length > 0) lines.push(...wrapped(names.join(", "), 2));
    if (parts.length > 0) lines.push(...wrapped(`in part: ${parts.join(", ")}`, 2));
  }
  for (const warning of report.warnings) lines.push("", ...wrapped(`Warning: ${plain(warning)}`, 0));
  return lines.join("\n");
}

function findingText(finding: Finding, putBack: string, takeIn: string): string[] {
  const head = `  ${plain(titleOf(finding.resource))} ${finding.kind}`;
  const note = [finding.effect, finding.protected && "protected", placeOf(finding)]
    .filter(Boolean)
    .join(", ");
  const gap = width - head.length - note.length;
  return [
    gap >= 2 ? `${head}${" ".repeat(gap)}${note}` : `${head}  ${note}`,
    ...finding.properties.map(
      ({ path, declared, actual }) =>
        `    ${plain(path)}: declared ${plain(valueText(declared))}, actual ${plain(valueText(actual))}`,
    ),
    ...wrapped(finding.consequence, 4),
    ...curesText(finding.cures, putBack, takeIn),
  ];
}

function unmanagedText({ type, name, id, projectId, cures }: Unmanaged): string[] {
  const project = projectId === undefined ? "" : ` of project ${projectId}`;
  return [`  ${type} ${plain(name)} (${id})${project}`, ...curesText(cures, "delete", "take in")];
}

/** Commands stay on one line, so that they can be copied. */
function curesText({ putBack, takeIn }: Finding["cures"], ...titles: [string, string]): string[] {
  return [putBack, takeIn].flatMap((cure, index) => {
    const prose =
      cure.edit === undefined ? [] : wrapped(plain(cure.edit), 14).map((line) => line.trimStart());
    const steps = [...prose, ...(cure.command === undefined ? [] : [plain(cure.command)])];
    return steps.map((step, at) => `    ${(at === 0 ? `${titles[index]}` : "").padEnd(10)}${step}`);
  });
}

function wrapped(text: string, indent: number): string[] {
  const margin = " ".repeat(indent);
  const lines: string[] = [];
  let line = margin;
  for (const word of text.split(" ")) {
    if (line.length + word.length + 1 > width && line !== margin) {
      lines.push(line);
      line = margin;
    }
    line += line === margin ? word : ` ${word}`;
  }
  return [...lines, line];
}
