import type { Pinned } from "../../provider/run/pinned";
import { titleOf } from "../../provider/run/urn";
import type { Finding, StackReport } from "../drift/finding";
import type { ProgramState } from "../stack/program";
import { servesTheSame } from "./contents";
import type { Contents, Release } from "./history";

/** What can speak against a release or a promotion, each to be allowed by itself. */
export const reasonCodes = ["drift", "changes", "checks", "uncommitted", "release", "pinned"] as const;

/** A kind of reason. */
export type ReasonCode = (typeof reasonCodes)[number];

/** A reason against a release or a promotion, and what to do about it. */
export interface Reason {
  readonly code: ReasonCode;
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
}

/** The reasons against calling a stack as it is a release. */
export function againstRelease({ stack, report, contents, program }: Evidence): Reason[] {
  const reasons: Reason[] = [];
  const add = (code: ReasonCode, words: string, fix: string) => reasons.push({ code, words, fix });
  if (report.drift.length > 0) {
    add(
      "drift",
      `${stack} has drift: ${listed(report.drift.map(titleWithKind))}`,
      `see \`recommender drift --stack ${stack}\``,
    );
  }
  if (report.changes.length > 0) {
    add(
      "changes",
      `the program would change ${stack}: ${listed(report.changes.map(titleWithKind))}`,
      `apply it first: \`pulumi up --stack ${stack}\``,
    );
  }
  for (const { name, check } of contents.deployments) {
    if (check && check.result !== "passed") {
      add("checks", `Deployment ${name}: ${check.result}`, "mend the deployment, or what its check asks for");
    }
  }
  if (program.commit === null) {
    const why = program.problem ? `: Git says "${program.problem.replace(/\.$/, "")}"` : "";
    add("uncommitted", `the program is in no Git commit${why}`, "commit it, so that the release can name it");
  } else if (program.changed.length > 0) {
    add(
      "uncommitted",
      `the program differs from its commit: ${listed(program.changed)}`,
      "commit these files, or put them back",
    );
  }
  return reasons;
}

/** The reasons against promoting a stack: its release must stand, and describe what serves. */
export function againstPromotion(evidence: Evidence, latest: Release | undefined): Reason[] {
  const { stack, contents, pinned } = evidence;
  const reasons = againstRelease(evidence);
  const write = `write it: \`recommender release ${stack}\``;
  if (!latest?.contents) {
    reasons.push({ code: "release", words: `${stack} has no release`, fix: write });
  } else if (!sameContents(latest.contents, contents)) {
    const words = `${stack} has changed since its release ${latest.id}`;
    reasons.push({ code: "release", words, fix: write });
  }
  const names = Object.keys(pinned);
  if (names.length > 0) {
    reasons.push({
      code: "pinned",
      words: `${stack} was rolled back: ${listed(names)} does not serve what the program declares`,
      fix: `undo the rollback with \`recommender rollback ${stack} --undo --yes\``,
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
  return essence(one) === essence(other) && servesTheSame(one.deployments, other.deployments);
}

/** Names, shortened when there are many. */
export function listed(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}

function titleWithKind({ resource, kind }: Finding): string {
  return `${titleOf(resource)} (${kind})`;
}
