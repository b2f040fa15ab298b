import type { Pinned } from "../../provider/run/pinned";
import { titleOf } from "../../provider/run/urn";
import type { Finding, StackReport } from "../drift/finding";
import { shellQuote } from "../stack/flags";
import type { ProgramDifference, ProgramState } from "../stack/program";
import { servesSameModels } from "./contents";
import type { Contents, Release } from "./history";

/** Codes of blocking issues. Users can allow each with `--allow`. */
export const blockerCodes = [
  "drift",
  "changes",
  "checks",
  "uncommitted",
  "release",
  "commit",
  "pinned",
  "retain",
] as const;

/** Code of a blocking issue. */
export type BlockerCode = (typeof blockerCodes)[number];

/** An issue that blocks a release or a promotion, and how to fix it. */
export interface Blocker {
  readonly code: BlockerCode;
  readonly words: string;
  readonly fix: string;
}

/** Facts about a stack that decide whether it can be released or promoted. */
export interface Evidence {
  readonly stack: string;
  readonly report: StackReport;
  /** Contents of the stack, with the results of its checks. */
  readonly contents: Contents;
  readonly program: ProgramState;
  readonly pinned: Readonly<Record<string, Pinned>>;
  /** Options that suggested commands need to select the project and its histories, each with a leading space. */
  readonly where?: { readonly project: string; readonly releases: string };
}

/** Returns the issues that block a release of a stack. */
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
    const why = program.problem ? `: Git reports "${program.problem.replace(/\.$/, "")}"` : "";
    add("uncommitted", `the program is in no Git commit${why}`, "commit it");
  } else if (program.changed.length > 0) {
    add(
      "uncommitted",
      `the program differs from its commit: ${shortList(program.changed)}`,
      "commit or revert these files",
    );
  }
  return reasons;
}

/** Whether program files differ between two commits, or the commits cannot be compared. */
export function differs({ files, problem }: ProgramDifference): boolean {
  return files.length > 0 || problem !== undefined;
}

/**
 * Returns the issues that block a promotion. As for a release, but the latest release must also match the stack and the
 * checked-out program, and no models may be pinned.
 */
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
      ? `the program cannot be compared with commit ${released} of release ${latest.id}: Git reports "${problem}"`
      : `release ${latest.id} is from commit ${released}, but commit ${checkedOut} is checked out, which differs ` +
        `in ${shortList(difference.files)}`;
    const fix = problem
      ? `fetch that commit with \`git fetch origin ${difference.from}\`, or release the program as it is: \`recommender release ${ofStack}\``
      : `release the program as it is: \`recommender release ${ofStack}\`; or check out the release's commit: \`git checkout ${released}\``;
    reasons.push({ code: "commit", words, fix });
  }
  const names = Object.keys(pinned);
  if (names.length > 0) {
    reasons.push({
      code: "pinned",
      words: `${stack} was rolled back, so it does not use the models that the program declares: ${shortList(names)}`,
      fix: `undo the rollback with \`recommender rollback ${ofStack} --undo --yes\``,
    });
  }
  return reasons;
}

/** Whether two stacks' contents have the same records and models, and their deployments use the same models. */
export function sameContents(one: Contents, other: Contents): boolean {
  const identity = ({ records, models }: Contents) =>
    JSON.stringify([
      records.map(({ name, type, contentHash }) => [name, type, contentHash]),
      models.map(({ name, modelId }) => [name, modelId]),
    ]);
  return identity(one) === identity(other) && servesSameModels(one.deployments, other.deployments);
}

/** Joins names, and shortens long lists: `a, b and 3 more`. */
export function shortList(names: readonly string[], max = 5): string {
  const more = names.length - max;
  return more > 0 ? `${names.slice(0, max).join(", ")} and ${more} more` : names.join(", ");
}

function titleWithKind({ resource, kind }: Finding): string {
  return `${titleOf(resource)} (${kind})`;
}
