import { truncate } from "../../../contract/messages";
import { titleOf } from "../../../provider/run/urn";
import { formatCount, formatNumber } from "../../terminal/output";
import { effects, type Finding, type Report, type StackReport } from "../finding";
import { capital } from "../value-syntax";
import { notesOf } from "./notes";
import {
  comparisonsOf,
  dangerCounts,
  fixSteps,
  isDangerous,
  locationText,
  orphanDetails,
  summaryLine,
  unobservableOf,
  valueText,
  withoutControls,
} from "./wording";

/** Maximum length of the comment. GitHub rejects comments of more than 65,536 characters. */
const maxCharacters = 59_900;
/** Characters reserved per stack for its verdict, headings and marker. */
const frame = 2_000;
const maxProperties = 25;

/** Renders a report as a review comment: for each stack the verdict, then its findings with collapsed details. */
export function renderMarkdown({ stacks }: Report): string {
  const share = Math.floor(maxCharacters / Math.max(1, stacks.length)) - 2;
  const full = stacks.map((report) => stackMarkdown(report, share - frame));
  const text = full.every((part) => part.length <= share) ? full : stacks.map(bareMarkdown);
  let shown = text.length;
  while (text.slice(0, shown).join("\n").length > maxCharacters) shown--;
  const left = shown < text.length ? [`…and ${formatNumber(text.length - shown)} more stacks.\n`] : [];
  return [...text.slice(0, shown), ...left].join("\n");
}

/** Returns a marker that identifies the comment of a stack, to update it instead of adding a new one. */
export function markerOf(
  { project, stack }: Pick<StackReport, "project" | "stack">,
  command: "drift" | "review" | "releases" = "drift",
): string {
  return `<!-- recommender-${command} ${`${project}/${stack}`.replaceAll("--", "- -").replaceAll(">", "")} -->`;
}

function verdictLine(report: StackReport): string {
  const findings = [...report.changes, ...report.drift];
  const sign = findings.some(isDangerous) ? "❌" : findings.length + report.expired.length > 0 ? "⚠️" : "✅";
  const dangers = dangerCounts(report);
  return `### ${sign} ${inline(summaryLine(report))}${dangers ? `: **${dangers}**` : ""}`;
}

function bareMarkdown(report: StackReport): string {
  return `${verdictLine(report)}\n\n${markerOf(report)}\n`;
}

function stackMarkdown(report: StackReport, budget: number): string {
  const shown = withinBudget(report, budget);
  const lines = [verdictLine(report), ""];
  for (const { title, subtitle, findings, none, apply, accept } of comparisonsOf(report)) {
    lines.push(`#### ${title}`, `<sub>${subtitle}</sub>`, "");
    if (findings.length === 0) lines.push(none, "");
    const fitting = findings.filter((finding) => shown.has(finding));
    for (const finding of fitting) lines.push(findingMarkdown(finding, apply, accept));
    const left = findings.length - fitting.length;
    if (left > 0) {
      lines.push(`…and ${formatNumber(left)} more; see \`recommender drift --format html\` or \`json\`.`, "");
    }
    if (findings === report.drift && findings.length > 1) lines.push(atOnce(report));
  }
  for (const { title, entries } of lists(report)) {
    const room = budget + frame / 2 - lines.join("\n").length;
    if (entries.length > 0) lines.push(folded(title, truncateList(entries, room)));
  }
  return `${lines.join("\n")}\n${markerOf(report)}\n`;
}

/** Returns the lists that follow the findings, such as unmanaged objects and warnings. Each has a title and entries. */
function lists(report: StackReport): { title: string; entries: string[] }[] {
  const { unmanaged, orphans, warnings } = report;
  const { wholly, partly } = unobservableOf(report);
  const notes = notesOf(report).map(({ title, entries }) => ({
    title: inline(title),
    entries: entries.map((entry) => `- ${inline(entry)}`),
  }));
  return [
    ...notes,
    {
      title: `${formatNumber(unmanaged.length)} unmanaged: in the service, but in no given stack`,
      entries: unmanaged.map(
        ({ type, name, id, fixes }) =>
          `- ${type} ${code(name)} (${code(id)}): delete with ${code(fixSteps(fixes.apply).join("; "))}, or ` +
          `${fixSteps(fixes.accept).map(code).join(", then ")}`,
      ),
    },
    {
      title: `${formatNumber(orphans.length)} orphaned: left behind, and not used by any given stack`,
      entries: orphans.map((found) => {
        const details = orphanDetails(found);
        const command = code(fixSteps(found.fixes.apply).join("; "));
        return `- ${found.type} ${code(found.name)} (${code(found.id)})${details && `, ${inline(details)}`}: delete with ${command}`;
      }),
    },
    {
      title:
        wholly.length > 0
          ? `${formatNumber(wholly.length)} not observable: the API cannot read them, so they may have drifted`
          : `${formatNumber(partly.length)} observed only in part`,
      entries: [
        ...wholly.map(({ resource }) => `- ${code(titleOf(resource))}`),
        ...partly.map(({ resource, part }) => `- ${code(titleOf(resource))}: not ${inline(part)}`),
      ],
    },
    { title: formatCount(warnings.length, "warning"), entries: warnings.map((text) => `- ${inline(text)}`) },
  ];
}

function atOnce({ fixes: { apply, accept } }: StackReport): string {
  const commands = `Revert:\n${fenced(apply)}\nAccept into the state:\n${fenced(accept)}`;
  return folded("All drift at once", commands);
}

/** Returns the findings that fit into the comment. The most dangerous findings are chosen first. */
function withinBudget(report: StackReport, budget: number): Set<Finding> {
  const all = comparisonsOf(report).flatMap(({ findings, apply, accept }) =>
    findings.map((finding) => ({ finding, length: findingMarkdown(finding, apply, accept).length + 1 })),
  );
  all.sort((a, b) => effects.indexOf(a.finding.effect) - effects.indexOf(b.finding.effect));
  // The rest of the budget is for the lists that follow the findings, such as unmanaged objects.
  let left = budget * 0.8;
  const fitting = all.filter(({ length }) => {
    left -= length;
    return left > 0;
  });
  return new Set(fitting.map(({ finding }) => finding));
}

function findingMarkdown(finding: Finding, apply: string, accept: string): string {
  const { resource, kind, effect, consequence, properties, fixes } = finding;
  const place = locationText(finding);
  const title = `${isDangerous(finding) ? "❗ " : ""}<b>${inline(titleOf(resource))}</b> ${kind}: ${effect}`;
  const rows = properties.slice(0, maxProperties).map((property) => {
    const { path, declared, actual, replaces, accepted } = property;
    const why = `${replaces ? " (replaces)" : ""}${accepted ? " (accepted)" : ""}`;
    return `| ${code(truncate(path, 200))}${why} | ${code(valueText(declared))} | ${code(valueText(actual))} |`;
  });
  const more = properties.length - rows.length;
  const table = rows.length > 0 ? ["| property | declared | actual |", "|---|---|---|", ...rows, ""] : [];
  const body = [
    `${inline(consequence)}${finding.protected ? " The `protect` option prevents this." : ""}`,
    ...(place ? ["", `Declared in ${code(place)}.`] : []),
    "",
    ...table,
    ...(more > 0 ? [`…and ${formatNumber(more)} more properties.`, ""] : []),
    `${capital(apply)}:`,
    fenced(fixSteps(fixes.apply).join("\n")),
    `${capital(accept)}: ${fixes.accept.edit ? inline(fixes.accept.edit) : ""}`,
    fenced(fixes.accept.command ?? ""),
  ].join("\n");
  return folded(title, body);
}

/** Returns a collapsed section, which readers can open. */
export function folded(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n\n${body}\n</details>\n`;
}

/** Joins as many entries of a list as fit. */
function truncateList(entries: readonly string[], room: number): string {
  let left = room;
  const fitting = entries.filter((entry) => {
    left -= entry.length + 1;
    return left > 200;
  });
  const more = entries.length - fitting.length;
  return [...fitting, ...(more > 0 ? [`- …and ${formatNumber(more)} more`] : [])].join("\n");
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}sh\n${withoutControls(text)}\n${fence}\n`;
}

/** Escapes markup, mentions and links in text. */
export function inline(text: string): string {
  return html(withoutControls(text)).replace(/[\\`*_[\]#|~@]/g, (char) => `&#${char.charCodeAt(0)};`);
}

function code(text: string): string {
  return `<code>${inline(text)}</code>`;
}

function html(text: string): string {
  return withoutControls(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
