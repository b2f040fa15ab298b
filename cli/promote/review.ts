import { titleOf } from "../../provider/run/urn";
import type { Finding, StackReport } from "../drift/finding";
import { minuteText } from "../policy/gates";
import type { ReviewedGate } from "../policy/promotion-gates";
import { type Blocker, differs, shortList } from "../release/gate";
import type { Contents, Release, Served } from "../release/history";
import { ruleDiff } from "../release/rules-text";
import type { ProgramDifference, ProgramState } from "../stack/program";
import { wrapText } from "../terminal/layout";
import { baselineText } from "../terminal/quality";
import { figureTexts } from "../watch/display";
import type { QualityComparison } from "./quality";

/** Review of a promotion, before or after it is applied. */
export interface Review {
  readonly verdict: "ready" | "refused" | "nothing to do" | "done" | "failed";
  readonly project: string;
  readonly from: string;
  readonly to: string;
  /** The promoted release. */
  readonly source?: Release;
  /** The program to apply. */
  readonly program: ProgramState;
  /** Differences from the release's commit, if another commit is checked out. */
  readonly difference?: ProgramDifference;
  /** Issues that block the promotion, unless the user allowed them. */
  readonly reasons: readonly (Blocker & { readonly allowed: boolean })[];
  /** Gates of the policy in recommender.yaml. Empty without a policy. */
  readonly gates: readonly ReviewedGate[];
  /** When all gates are open, as ISO 8601, if the closed ones only wait for a time. */
  readonly gatesOpenAt?: string;
  /** Changes of the target stack. */
  readonly report?: StackReport;
  readonly quality: readonly QualityComparison[];
  readonly before: readonly Served[];
  /** Names of models that are replaced and deleted, so the stack cannot be rolled back to them. */
  readonly lost: readonly string[];
  /** How long the promotion is watched after the switch. */
  readonly watch?: string;
  /** Names of deployments whose rollback the promotion ends. */
  readonly unpinned: readonly string[];
  /** Id of the interrupted promotion that this one resumes. */
  readonly resumed?: string;
  /** The new history entry. */
  readonly release?: Release;
  /** The command that applies the promotion, with the same options as the review. */
  readonly command: string;
}

/** Formats the review: first the verdict, then the blocking issues, then the changes. */
export function reviewText(review: Review): string {
  const { from, to, verdict } = review;
  const blocks = [
    `# Promotion ${from} → ${to}: ${verdict}`,
    wrapText(opening(review)),
    ...section("Blocking issues", review.reasons.map(reasonLine)),
    ...section("Gates", gateLines(review)),
    ...section("Changes since the release", differenceLines(review)),
    ...section(`Changes in ${to}`, changeLines(review)),
    ...section("Quality", qualityTable(review)),
    ...section("Rules", ruleSection(review)),
    ...section("Live models", servingLines(review)),
    ...section("Watch", watchLines(review)),
    ...(review.verdict === "ready" ? [wrapText(`Apply it with \`${review.command}\`.`)] : []),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/**
 * Formats the review as a pull request comment, with a marker to find and update the comment later. Several projects in
 * one repository can have stacks with the same names.
 */
export function commentOf(review: Review): string {
  const { project, from, to } = review;
  return `${reviewText(review)}\n<!-- recommender promote ${project} ${from} ${to} -->\n`;
}

/** Escapes characters in names and texts of users that could end a table cell or start markup. */
function plain(text: string): string {
  return text.replace(/[\\`*<>|]|(?<=\])\(/g, "\\$&").replace(/\s+/g, " ");
}

function opening(review: Review): string {
  const { verdict, from, to, source, release, resumed } = review;
  const promoted = source
    ? `Release \`${source.id}\`${source.program.commit ? ` (${commitText(source.program.commit)})` : ""} of ${from}`
    : from;
  const applied = appliedText(review);
  const again = resumed ? ` This resumes \`${resumed}\`, which was interrupted.` : "";
  switch (verdict) {
    case "refused":
      return `${promoted} is not promoted to ${to}. Nothing was changed.`;
    case "nothing to do":
      return `${promoted} is in ${to} already, and ${to} matches the program.`;
    case "done":
      return `${promoted} is in ${to} as release \`${release?.id}\`. Checks and quality passed.${applied}`;
    case "failed":
      return `${promoted} was not promoted to ${to}: ${release?.reason ?? ""}${applied}`;
    default:
      return `${promoted} can be promoted to ${to}.${applied}${again} Models belong to a project, so ${to} trains its own.`;
  }
}

/** Describes the applied program, unless it is the release's commit without changes. */
function appliedText({ program, difference, source }: Review): string {
  const { commit, changed } = program;
  const dirty = changed.length > 0 ? ` Uncommitted files are applied too: ${shortList(changed)}.` : "";
  if (commit === null) return " The applied program is in no commit.";
  if (source?.program.commit === commit) return dirty;
  const isSame = difference !== undefined && !differs(difference);
  return isSame
    ? ` The applied ${commitText(commit)} has the same program.${dirty}`
    : ` **The applied ${commitText(commit)} is not the commit of the release.**${dirty}`;
}

function commitText(commit: string): string {
  return `commit \`${commit.slice(0, 12)}\``;
}

/** Lists the differences between the release's commit and the applied program. */
function differenceLines({ difference, verdict }: Review): string[] {
  if (!difference || verdict === "nothing to do") return [];
  const { from, to, files, elsewhere: outside, diff } = difference;
  const range = `git diff ${from.slice(0, 12)} ${to.slice(0, 12)}`;
  return [
    ...(files.length > 0 ? [bullet(`In the project: ${shortList(files)}. See \`${range}\`.`)] : []),
    ...(outside.length > 0 ? [bullet(`Outside the project: ${shortList(outside)}. See \`${range}\`.`)] : []),
    ...(diff ? ["", ...fencedDiff(diff)] : []),
  ];
}

/** Returns a block with a diff. A longer run of backticks in the diff does not end it. */
function fencedDiff(diff: string): string[] {
  const fence = "`".repeat(Math.max(3, ...[...diff.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return [`${fence}diff`, diff, fence];
}

function reasonLine({ code, words, fix, allowed }: Review["reasons"][number]): string {
  const how = allowed ? "Allowed." : `To fix it, ${fix}; or \`--allow ${code}\`.`;
  return bullet(`**${code}**: ${plain(words)}. ${how}`);
}

function gateLines({ gates, gatesOpenAt, verdict }: Review): string[] {
  if (verdict === "nothing to do") return [];
  const lines = gates.map(({ gate, isOpen, words, opensAt, overridden }) => {
    if (isOpen) return bullet(`**${gate}** open: ${plain(words)}.`);
    if (overridden !== undefined)
      return bullet(`**${gate}** overridden (${plain(overridden)}): ${plain(words)}.`);
    const when = opensAt === undefined ? "" : ` Opens at ${minuteText(opensAt)}.`;
    return bullet(
      `**${gate}** closed: ${plain(words)}.${when} To override it, add \`--override ${gate} --reason TEXT\`.`,
    );
  });
  const together = gatesOpenAt === undefined ? [] : [`\nAll gates are open from ${minuteText(gatesOpenAt)}.`];
  return [...lines, ...together];
}

function changeLines({ verdict, report, lost, unpinned, to }: Review): string[] {
  if (!report || ["done", "failed", "nothing to do"].includes(verdict)) return [];
  const lines = report.changes.map((finding) => bullet(findingText(finding)));
  const drift = report.drift.map((finding) => bullet(`Drift is reverted: ${findingText(finding)}`));
  const pins = unpinned.map((name) => bullet(`**Deployment ${plain(name)}**: its rollback ends.`));
  const notes = lost.map((name) =>
    bullet(
      `**Model ${plain(name)}**: the current model is deleted once the new one is live, so you cannot roll back to it. ` +
        "Set `retainOnDelete` to keep it.",
    ),
  );
  const all = [...lines, ...drift, ...pins, ...notes];
  return all.length > 0 ? all : [bullet(`None: ${to} matches the program.`)];
}

function findingText({ resource, kind, consequence, protected: forbidden }: Finding): string {
  const stop = forbidden ? " **The `protect` option prevents this.**" : "";
  return `**${plain(titleOf(resource))}** ${kind}: ${plain(consequence)}${stop}`;
}

function qualityTable({ from, to, quality }: Review): string[] {
  if (quality.length === 0) return [];
  const formatScore = (value: number | undefined) => value?.toFixed(4) ?? "–";
  const isShared = (model: string) => quality.filter((other) => other.model === model).length > 1;
  const nameOf = ({ model, deployment }: QualityComparison) =>
    plain(isShared(model) ? `${model} in ${deployment}` : model);
  const rows = quality.map((comparison) => {
    const { from: promoted, former, floor, now } = comparison;
    const scores = [promoted, former, floor, now].map(formatScore).join(" | ");
    return `| ${nameOf(comparison)} | ${scores} |`;
  });
  const head = [`| NDCG@20 of | ${from} | ${to} before | required | ${to} now |`, "|---|---|---|---|---|"];
  const sources = { from, former: `${to} before`, now: `${to} now` };
  const baselines = quality.flatMap((comparison) =>
    (["from", "former", "now"] as const).flatMap((key) => {
      const baseline = baselineText(comparison.measured[key] ?? {});
      return baseline ? [bullet(`${nameOf(comparison)}, ${sources[key]}: ${baseline}`)] : [];
    }),
  );
  return [...head, ...rows, ...(baselines.length > 0 ? ["", ...baselines] : [])];
}

/** Shows how the rules of each deployment differ from those before the promotion. */
function ruleSection({ before, release, source, verdict }: Review): string[] {
  if (verdict === "nothing to do") return [];
  const promoted = release?.contents?.deployments ?? source?.contents?.deployments ?? [];
  return promoted.flatMap(({ name, rules }) => {
    const lines = ruleDiff(before.find((served) => served.name === name)?.rules, rules);
    return lines.length > 0 ? [bullet(`${plain(name)}:`), "", ...fencedDiff(lines.join("\n"))] : [];
  });
}

function servingLines({ before, release }: Review): string[] {
  const deployments: Contents["deployments"] = release?.contents?.deployments ?? [];
  return deployments.map(({ name, generator, ranker, check }) => {
    const former = before.find((served) => served.name === name);
    const models = modelsOf({ generator, ranker });
    const was = former ? ` (before: ${modelsOf(former)})` : "";
    return bullet(`${plain(name)}: ${models}${was}; check: ${plain(check?.result ?? "none declared")}`);
  });
}

function watchLines({ verdict, release, watch, to }: Review): string[] {
  if (verdict === "ready" && watch !== undefined)
    return [
      bullet(`After the switch, ${to} is watched for ${watch}, and rolled back if a limit is violated.`),
    ];
  if (!release?.watch) return [];
  const { state } = release.watch;
  const result =
    state === "passed"
      ? "No limit was violated"
      : state === "failed"
        ? "A limit was violated"
        : "It was not completed";
  return figureTexts(release.watch).map((text) => bullet(`${result}: ${text}`));
}

function modelsOf({ generator, ranker }: Pick<Served, "generator" | "ranker">): string {
  return [generator, ranker].flatMap((model) => (model ? [`\`${model.modelId}\``] : [])).join(", ranked by ");
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [`## ${title}`, lines.join("\n")];
}

function bullet(text: string): string {
  return wrapText(text, "- ", "  ");
}
