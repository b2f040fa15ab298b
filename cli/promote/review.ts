import { titleOf } from "../../provider/run/urn";
import type { Finding, StackReport } from "../drift/finding";
import { type Blocker, differs, shortList } from "../release/gate";
import type { Contents, Release, Served } from "../release/history";
import type { ProgramDifference, ProgramState } from "../stack/program";
import { wrapText } from "../terminal/layout";
import { baselineText } from "../terminal/quality";
import type { QualityComparison } from "./quality";

/** What a promotion comes to, before it is carried out or after. */
export interface Review {
  readonly verdict: "ready" | "refused" | "nothing to do" | "done" | "failed";
  readonly from: string;
  readonly to: string;
  /** The release that is promoted. */
  readonly source?: Release;
  /** The program that is applied. */
  readonly program: ProgramState;
  /** How that differs from the release's commit, if another one is checked out. */
  readonly difference?: ProgramDifference;
  /** Blocking issues; those that are allowed do not stop it. */
  readonly reasons: readonly (Blocker & { readonly allowed: boolean })[];
  /** What applying the program to the stack changes. */
  readonly report?: StackReport;
  readonly quality: readonly QualityComparison[];
  readonly before: readonly Served[];
  /** Models that are deleted once others serve, so that no rollback can go back to them. */
  readonly lost: readonly string[];
  /** Deployments that were rolled back, and serve what the program declares again. */
  readonly unpinned: readonly string[];
  /** The promotion that was interrupted and goes on. */
  readonly resumed?: string;
  /** What was written into the history. */
  readonly release?: Release;
  /** The command that carries it out, with the options of the review. */
  readonly command: string;
}

/** The review as it is read: the verdict first, then the blocking issues, then what changes. */
export function reviewText(review: Review): string {
  const { from, to, verdict } = review;
  const blocks = [
    `# Promotion ${from} → ${to}: ${verdict}`,
    wrapText(opening(review)),
    ...section("Blocking issues", review.reasons.map(reasonLine)),
    ...section("What is not in the release", differenceLines(review)),
    ...section(`What changes in ${to}`, changeLines(review)),
    ...section("Quality", qualityTable(review)),
    ...section("What serves", servingLines(review)),
    ...(review.verdict === "ready" ? [wrapText(`Carry it out with \`${review.command}\`.`)] : []),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** The same for a comment on a pull request, with a mark by which the next one finds it. */
export function commentOf(review: Review): string {
  return `${reviewText(review)}\n<!-- recommender promote ${review.from} ${review.to} -->\n`;
}

function opening(review: Review): string {
  const { verdict, from, to, source, release, resumed } = review;
  const what = source
    ? `Release \`${source.id}\`${named(source.program.commit, " (", ")")} of ${from}`
    : from;
  const applied = appliedText(review);
  const again = resumed ? ` \`${resumed}\` was interrupted; this goes on with it.` : "";
  switch (verdict) {
    case "refused":
      return `${what} is not promoted to ${to}. Nothing was changed.`;
    case "nothing to do":
      return `${what} is in ${to} already, and ${to} holds what the program declares.`;
    case "done":
      return `${what} is in ${to} as release \`${release?.id}\`, with checks and quality as asked for.${applied}`;
    case "failed":
      return `${what} was not taken by ${to}: ${release?.reason ?? ""}${applied}`;
    default:
      return `${what} can be promoted to ${to}.${applied}${again} Models belong to a project, so ${to} trains its own.`;
  }
}

/** Which program is applied, unless that is exactly the release's commit. */
function appliedText({ program, difference, source }: Review): string {
  const { commit, changed } = program;
  const dirty =
    changed.length > 0 ? ` Files that are not committed are applied too: ${shortList(changed)}.` : "";
  if (commit === null) return " What is applied is in no commit.";
  const isReleased = source?.program.commit === commit;
  if (isReleased) return dirty;
  const isSame = difference !== undefined && !differs(difference);
  const applied = isSame
    ? ` ${named(commit)} is applied, which holds the same program.`
    : ` **${named(commit)} is applied, which is not the commit of the release.**`;
  return applied.replace("commit", "Commit") + dirty;
}

function named(commit: string | null | undefined, before = "", after = ""): string {
  return commit ? `${before}commit \`${commit.slice(0, 12)}\`${after}` : "";
}

/** What the program has beyond the commit of the release, so that nothing is applied under the name of another commit. */
function differenceLines({ difference, verdict }: Review): string[] {
  if (!difference || verdict === "nothing to do") return [];
  const { from, to, files, elsewhere, diff } = difference;
  const range = `git diff ${from.slice(0, 12)} ${to.slice(0, 12)}`;
  const fence = "`".repeat(Math.max(3, ...[...diff.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  const outside = bullet(`Outside the project's folder: ${shortList(elsewhere)}. See \`${range}\`.`);
  return [
    ...(files.length > 0 ? [bullet(`In the project: ${shortList(files)}. See \`${range}\`.`)] : []),
    ...(elsewhere.length > 0 ? [outside] : []),
    ...(diff ? ["", `${fence}diff`, diff, fence] : []),
  ];
}

function reasonLine({ code, words, fix, allowed }: Review["reasons"][number]): string {
  const how = allowed ? "Allowed." : `To fix it, ${fix}; or \`--allow ${code}\`.`;
  return bullet(`**${code}**: ${words}. ${how}`);
}

function changeLines({ verdict, report, lost, unpinned, to }: Review): string[] {
  if (!report || ["done", "failed", "nothing to do"].includes(verdict)) return [];
  const lines = report.changes.map((finding) => bullet(findingText(finding)));
  const drift = report.drift.map((finding) => bullet(`drift is put right: ${findingText(finding)}`));
  const pins = unpinned.map((name) => bullet(`**Deployment ${name}** was rolled back; that ends.`));
  const notes = lost.map((name) =>
    bullet(
      `**Model ${name}**: the model of now is deleted once the new one serves, so that no rollback can go back ` +
        "to it. The option `retainOnDelete` keeps it.",
    ),
  );
  const all = [...lines, ...drift, ...pins, ...notes];
  return all.length > 0 ? all : [bullet(`Nothing: ${to} holds what the program declares.`)];
}

function findingText({ resource, kind, consequence, protected: forbidden }: Finding): string {
  const stop = forbidden ? " **The option `protect` forbids it.**" : "";
  return `**${titleOf(resource)}** ${kind}: ${consequence}${stop}`;
}

function qualityTable({ from, to, quality }: Review): string[] {
  if (quality.length === 0) return [];
  const formatScore = (value: number | undefined) => value?.toFixed(4) ?? "–";
  const isShared = (model: string) => quality.filter((other) => other.model === model).length > 1;
  const nameOf = ({ model, deployment }: QualityComparison) =>
    isShared(model) ? `${model} in ${deployment}` : model;
  const rows = quality.map((comparison) => {
    const { from: promoted, former, floor, now } = comparison;
    const scores = [promoted, former, floor, now].map(formatScore).join(" | ");
    return `| ${nameOf(comparison)} | ${scores} |`;
  });
  const head = [`| NDCG@20 of | ${from} | ${to} before | asked for | ${to} now |`, "|---|---|---|---|---|"];
  const places = { from, former: `${to} before`, now: `${to} now` };
  const bases = quality.flatMap((comparison) =>
    (["from", "former", "now"] as const).flatMap((where) => {
      const basis = baselineText(comparison.measured[where] ?? {});
      return basis ? [bullet(`${nameOf(comparison)}, ${places[where]}: ${basis}`)] : [];
    }),
  );
  return [...head, ...rows, ...(bases.length > 0 ? ["", ...bases] : [])];
}

function servingLines({ before, release }: Review): string[] {
  const now: Contents["deployments"] = release?.contents?.deployments ?? [];
  if (!release) return [];
  return now.map(({ name, generator, ranker, check }) => {
    const former = before.find((served) => served.name === name);
    const models = modelsOf({ generator, ranker });
    const was = former ? ` (before: ${modelsOf(former)})` : "";
    return bullet(`${name}: ${models}${was}; check: ${check?.result ?? "none declared"}`);
  });
}

function modelsOf({
  generator,
  ranker,
}: {
  generator: Served["generator"];
  ranker?: Served["ranker"];
}): string {
  return [generator, ranker].flatMap((model) => (model ? [`\`${model.modelId}\``] : [])).join(", ranked by ");
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [`## ${title}`, lines.join("\n")];
}

function bullet(text: string): string {
  return wrapText(text, "- ", "  ");
}
