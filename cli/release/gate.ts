import type { Pinned } from "../../provider/run/pinned";
import { titleOf } from "../../provider/run/urn";
import type { Finding, StackReport } from "../drift/finding";
import { shellQuote } from "../stack/flags";
import type { ProgramDifference, ProgramState } from "../stack/program";
import { servesSameModels } from "./contents";
import type { Contents, Release } from "./history";

/** What can speak against a release or a promotion, each to be allowed by itself. */
export const blockerCodes = [
  "drift",
  "changes",
  "checks",
  "uncommitted",
  "release",
  "commit",
  "pinned",
] as const;

/** A kind of reason. */
export type BlockerCode = (typeof blockerCodes)[number];

/** A reason against a release or a promotion, and what to do about it. */
export interface Blocker {
  readonly code: BlockerCode;
  readonly words: string;
  readonly fix: string;
}

/** All that is known of a stack that is to be released or promoted. */
export interface Evidence {
  readonly stack: string;
  readonly report: StackReport;
  /** What the stack holds, with the results of its checks. */
  readonly contents: Contents;
  readonly program: ProgramState;
  readonly pinned: Readonly<Record<string, Pinned>>;
  /** The options by which suggested commands find the project and its histories, with a space before each. */
  readonly where?: { readonly project: string; readonly releases: string };
}

/** The reasons against calling a stack as it is a release. */
export function releaseBlockers({ stack, report, contents, program, where }: Evidence): Blocker[] {
  const reasons: Blocker[] = [];
  const inProject = `--stack ${shellQuote(stack)}${where?.project ?? ""}`;
  const add = (code: BlockerCode, words: string, fix: string) => reasons.push({ code, words, fix });
  if (report.drift.length > 0) {
    add(
      "drift",
      `${stack} has drift: ${shortList(report.drift.map(titleWithKind))}`,
      `see \`recommender drift ${inProject}\``,
    );
  }
  if (report.changes.length > 0) {
    add(
      "changes",
      `the program would change ${stack}: ${shortList(report.changes.map(titleWithKind))}`,
      `apply it first: \`pulumi up ${inProject}\``,
    );
  }
  for (const { name, check } of contents.deployments) {
    if (check && check.result !== "passed") {
      add("checks", `Deployment ${name}: ${check.result}`, "fix the deployment, or relax its check");
    }
  }
  if (program.commit === null) {
    const why = program.problem ? `: Git says "${program.problem.replace(/\.$/, "")}"` : "";
    add("uncommitted", `the program is in no Git commit${why}`, "commit it, so that the release can name it");
  } else if (program.changed.length > 0) {
    add(
      "uncommitted",
      `the program differs from its commit: ${shortList(program.changed)}`,
      "commit these files, or put them back",
    );
  }
  return reasons;
}

/** Whether the program is not the one of a commit, as far as that can be known. */
export function differs({ files, problem }: ProgramDifference): boolean {
  return files.length > 0 || problem !== undefined;
}

/** The reasons against promoting a stack: its release must describe what serves, and the program that is applied. */
export function promotionBlockers(
  evidence: Evidence,
  latest: Release | undefined,
  difference?: ProgramDifference,
): Blocker[] {
  const { stack, contents, pinned, where } = evidence;
  const ofStack = `${shellQuote(stack)}${where?.releases ?? ""}`;
  const reasons = releaseBlockers(evidence);
  const write = `write it: \`recommender release ${ofStack}\``;
  if (!latest?.contents) {
    reasons.push({ code: "release", words: `${stack} has no release`, fix: write });
  } else if (!sameContents(latest.contents, contents)) {
    const words = `${stack} has changed since its release ${latest.id}`;
    reasons.push({ code: "release", words, fix: write });
  }
  if (latest && difference && differs(difference)) {
    const [released, checkedOut] = [difference.from, difference.to].map((commit) => commit.slice(0, 12));
    const { problem } = difference;
    const words = problem
      ? `the program cannot be compared with commit ${released} of release ${latest.id}: Git says "${problem}"`
      : `release ${latest.id} is of commit ${released}, but commit ${checkedOut} is checked out, which differs ` +
        `in ${shortList(difference.files)}`;
    const fix = problem
      ? `fetch that commit with \`git fetch origin ${difference.from}\`, or release the program as it is: \`recommender release ${ofStack}\``
      : `release the program as it is: \`recommender release ${ofStack}\`; or check the release's commit out: \`git checkout ${released}\``;
    reasons.push({ code: "commit", words, fix });
  }
  const names = Object.keys(pinned);
  if (names.length > 0) {
    reasons.push({
      code: "pinned",
      words: `${stack} was rolled back: ${shortList(names)} does not serve what the program declares`,
      fix: `undo the rollback with \`recommender rollback ${ofStack} --undo --yes\``,
    });
  }
  return reasons;
}

/** Whether two descriptions are of the same models, records and deployments. */
export function sameContents(one: Contents, other: Contents): boolean {
  const essence = ({ records, models }: Contents) =>
    JSON.stringify([
      records.map(({ name, type, contentHash }) => [name, type, contentHash]),
      models.map(({ name, modelId }) => [name, modelId]),
    ]);
  return essence(one) === essence(other) && servesSameModels(one.deployments, other.deployments);
}

/** Names, shortened when there are many. */
export function shortList(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}

function titleWithKind({ resource, kind }: Finding): string {
  return `${titleOf(resource)} (${kind})`;
}
