import { writeFile } from "node:fs/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Baseline, baselines, defaultRatio } from "../promote/quality";
import type { BlockerCode } from "../release/gate";
import { exitCodes } from "../terminal/exit";
import { note, print } from "../terminal/output";
import { allowOption, cwdOption, releasesDirectory, releasesOption } from "./release";

interface PromoteOptions {
  readonly cwd: string;
  readonly releases?: string;
  readonly allow: BlockerCode[];
  readonly minQualityRatio: number;
  readonly against: Baseline[];
  readonly yes?: true;
  readonly output?: string;
  readonly json?: true;
}

const help = `
FROM must have a release, no drift, no pending changes, no failed check, and
a program that is committed and is that of the release. TO gets the program
as it is checked out, with its own configuration, and trains its own models. A
model whose NDCG@20 on held-out data falls short is not deployed; a check that
fails rolls back to the former models. The same command resumes a promotion
that was interrupted.

Exit codes:
  0  it can be done, is done, or there is nothing to do
  1  something went wrong; run it again to go on
  2  it is refused, or TO did not take it; the reasons are listed

Examples:
  recommender promote dev staging
  recommender promote dev staging --output review.md
  recommender promote staging prod --yes --min-quality-ratio 0.95`;

/** Adds `recommender promote`. */
export function addPromote(program: Command): void {
  program
    .command("promote")
    .description("Bring what one stack runs to another: review it, or carry it out with --yes.")
    .argument("<from>", "stack that has proven itself")
    .argument("<to>", "stack that is to run the same")
    .addOption(cwdOption())
    .addOption(releasesOption())
    .addOption(allowOption())
    .option(
      "--min-quality-ratio <share>",
      "share of the quality of FROM and of TO's former model to be reached; 0 asks for none",
      share,
      defaultRatio,
    )
    .addOption(
      new Option("--against <what...>", "what quality is compared with")
        .choices([...baselines])
        .default([...baselines]),
    )
    .option("--yes", "carry it out")
    .option("--output <file>", "write the review as Markdown to a file instead of standard output")
    .option("--json", "print the review as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(from: string, to: string, options: PromoteOptions): Promise<void> {
  const { promote } = await import("../promote/promotion.js");
  const { commentOf, reviewText } = await import("../promote/review.js");
  const review = await promote({
    ...{ from, to, cwd: options.cwd, allow: options.allow, against: options.against },
    releases: releasesDirectory(options),
    minQualityRatio: options.minQualityRatio,
    yes: options.yes === true,
    log: note,
  });
  if (options.output) await writeFile(options.output, commentOf(review));
  const short = `Promotion ${from} → ${to}: ${review.verdict}; see ${options.output}\n`;
  print(options, review, () => (options.output ? short : reviewText(review)));
  if (review.verdict === "refused" || review.verdict === "failed") process.exitCode = exitCodes.rejected;
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0)) throw new InvalidArgumentError("Expected a share such as 0.9.");
  return value;
}
