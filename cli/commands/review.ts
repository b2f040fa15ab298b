import type { Command } from "commander";
import { type FailCondition, failConditions, shouldFail } from "../drift/fail-on";
import { addReportOptions } from "../drift/report-options";
import type { ReviewFormat } from "../review/render";
import { exitCodes } from "../terminal/exit";
import { releasesDirectory, releasesOption } from "./release";

interface ReviewOptions {
  readonly stack?: string;
  readonly cwd: string;
  readonly releases?: string;
  readonly format?: ReviewFormat;
  readonly json?: true;
  readonly output?: string[];
  readonly failOn: readonly FailCondition[];
}

const help = `
Shows what a change of the program does to a stack: the consequences of each
change, what has drifted, how long trainings took, and the quality of the live
models, also over time if the stack has releases. It changes nothing.
\`recommender comment\` posts the Markdown.

With --output, the file's extension selects the format (.txt, .md, .json,
.sarif). It may be repeated.

In a pull request from a fork, which gets no secrets, the review is skipped: it
prints why, writes no file, and exits with 0.

Exit codes:
  0  nothing that --fail-on selects was found, or the review was skipped
  1  the review failed
  2  something that --fail-on selects was found

Examples:
  recommender review --stack prod
  recommender review --stack prod --output review.md --output review.sarif
  recommender review --stack prod --fail-on replace,drift`;

const formats: readonly ReviewFormat[] = ["text", "markdown", "json", "sarif"];

/** A review has no earlier report, so no finding is new. */
const conditions = failConditions.filter((condition) => condition !== "new");

/** Adds `recommender review`. */
export function addReview(program: Command): void {
  const command = program
    .command("review")
    .description("Review what a change of the program does to a stack.")
    .option("--stack <name>", "stack to review (default: the selected stack)")
    .addOption(releasesOption());
  addReportOptions(command, { what: "review", formats, conditions, failOn: ["replace"] })
    .addHelpText("after", help)
    .action(review);
}

/** Runs `recommender review`. Imports its modules only now, as `recommender drift` does. */
async function review(options: ReviewOptions): Promise<void> {
  const { forkReason } = await import("../review/fork.js");
  const skipped = forkReason();
  if (skipped !== undefined) {
    process.stdout.write(options.json ? `${JSON.stringify({ skipped })}\n` : `${skipped}\n`);
    return;
  }
  const { formatOf } = await import("../drift/render/formats.js");
  const { reviewRenderers } = await import("../review/render.js");
  const { reviewStack } = await import("../review/review.js");
  const { OpenStack, selectedStack } = await import("../stack/open.js");
  const { assertOutputFile, projectFiles, writeOutputFile } = await import("../terminal/output-file.js");
  const chosen = options.json ? "json" : options.format;
  const { cwd } = options;
  const files = (options.output ?? []).map((file) => {
    const format = chosen ?? formatOf(file);
    if (format === "html") throw new Error(`--output ${file}: a review cannot be HTML; use .md or .json`);
    return { file, format };
  });
  for (const { file } of files) assertOutputFile(file, projectFiles(cwd));
  const { comparesOnlyVariable } = await import("../../provider/lifecycle/scopes.js");
  const env = { [comparesOnlyVariable]: "true" };
  const open = await OpenStack.open({ cwd, stack: options.stack ?? (await selectedStack(cwd)), env });
  const found = await reviewStack(open, releasesDirectory(options));
  for (const { file, format } of files) writeOutputFile(file, reviewRenderers[format](found));
  if (files.length === 0) process.stdout.write(reviewRenderers[chosen ?? "text"](found));
  else process.stdout.write(`Review of ${found.stack}: see ${files.map(({ file }) => file).join(", ")}\n`);
  process.exitCode = shouldFail({ stacks: [found.report] }, options.failOn) ? exitCodes.found : 0;
}
