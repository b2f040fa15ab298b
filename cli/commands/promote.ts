import { type Command, InvalidArgumentError, Option } from "commander";
import type { PromotionRequest } from "../promote/promotion";
import { baselines, defaultRatio } from "../promote/quality";
import { exitCodes } from "../terminal/exit";
import { note, print } from "../terminal/output";
import { assertOutputFile, projectFiles, writeOutputFile } from "../terminal/output-file";
import { allowOption, cwdOption, releasesDirectory, releasesOption } from "./release";

interface PromoteOptions extends Pick<PromotionRequest, "cwd" | "allow" | "minQualityRatio" | "against"> {
  readonly releases?: string;
  readonly yes?: true;
  readonly output?: string;
  readonly json?: true;
}

const help = `
FROM needs a release, no drift, no pending changes and no failed check. The
program must be committed and match the release. TO gets the checked-out program
with its own configuration, and trains its own models. If the NDCG@20 of a model
on held-out data is too low, it is not deployed. If a check fails, the former
models are deployed again. Run the same command again to resume an interrupted
promotion.

Exit codes:
  0  the promotion is possible or done, or there is nothing to do
  1  the command failed; run it again to resume
  2  the promotion is blocked or failed; the reasons are listed

Examples:
  recommender promote dev staging
  recommender promote dev staging --output review.md
  recommender promote staging prod --yes --min-quality-ratio 0.95`;

/** Adds `recommender promote`. */
export function addPromote(program: Command): void {
  program
    .command("promote")
    .description("Promote a release to another stack: review it, or apply it with --yes.")
    .argument("<from>", "stack with the release")
    .argument("<to>", "stack to update")
    .addOption(cwdOption())
    .addOption(releasesOption())
    .addOption(allowOption())
    .option(
      "--min-quality-ratio <share>",
      "required share of the quality of FROM and of TO's previous model; 0 for none",
      share,
      defaultRatio,
    )
    .addOption(
      new Option("--against <what...>", "models to compare the quality with")
        .choices([...baselines])
        .default([...baselines]),
    )
    .option("--yes", "apply the promotion")
    .option("--output <file>", "write the review as Markdown to a file")
    .option("--json", "print the review as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(from: string, to: string, options: PromoteOptions): Promise<void> {
  const { promote } = await import("../promote/promotion.js");
  const { commentOf, reviewText } = await import("../promote/review.js");
  if (options.output) assertOutputFile(options.output, projectFiles(options.cwd));
  const more = { releases: releasesDirectory(options), yes: options.yes === true, log: note };
  const review = await promote({ ...options, from, to, ...more });
  if (options.output) writeOutputFile(options.output, commentOf(review));
  const summary = `Promotion ${from} → ${to}: ${review.verdict}; see ${options.output}\n`;
  print(options, review, () => (options.output ? summary : reviewText(review)));
  if (review.verdict === "refused" || review.verdict === "failed") process.exitCode = exitCodes.rejected;
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0))
    throw new InvalidArgumentError("Expected a number of at least 0, such as 0.9.");
  return value;
}
