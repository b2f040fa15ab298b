import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ReasonCode } from "./promote/gate";
import type { Comparable } from "./promote/quality";
import { allowOption, cwdOption, releasesFolder, releasesOption } from "./release";

interface PromoteOptions {
  readonly cwd: string;
  readonly releases?: string;
  readonly allow: ReasonCode[];
  readonly minQualityRatio: number;
  readonly against: Comparable[];
  readonly yes?: true;
  readonly output?: string;
  readonly json?: true;
}

const help = `
FROM must have a release, no drift, no pending changes and no failed check. TO gets the program as it is checked out,
with its own configuration, and trains its own models. A model whose NDCG@20 on held-out data falls short is not
deployed; a check that fails puts the former models back. An interrupted promotion is taken up by the same command.

Exit codes:
  0  it can be done, is done, or there is nothing to do
  1  something went wrong; run it again to go on
  2  it is refused, or TO did not take it; the reasons are told

Examples:
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
      "share of the quality of FROM and of what TO served before that a model must reach; 0 asks for none",
      share,
      0.9,
    )
    .addOption(
      new Option("--against <what...>", "what quality is compared with")
        .choices(["from", "former"])
        .default(["from", "former"]),
    )
    .option("--yes", "carry it out")
    .option("--output <file>", "write the review as Markdown to a file instead of standard output")
    .option("--json", "print the review as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(from: string, to: string, options: PromoteOptions): Promise<void> {
  const { promote } = await import("./promote/promotion.js");
  const { markdownOf } = await import("./promote/review.js");
  const review = await promote({
    ...{ from, to, cwd: options.cwd, allow: options.allow, against: options.against },
    releases: releasesFolder(options),
    minQualityRatio: options.minQualityRatio,
    yes: options.yes === true,
    say: (message) => process.stderr.write(`${message}\n`),
  });
  const markdown = markdownOf(review);
  if (options.output) await writeFile(join(options.output), markdown);
  if (options.json) process.stdout.write(`${JSON.stringify(review, null, 2)}\n`);
  else if (!options.output) process.stdout.write(markdown);
  else process.stdout.write(`Promotion ${from} → ${to}: ${review.verdict}; see ${options.output}\n`);
  if (review.verdict === "refused" || review.verdict === "failed") process.exitCode = 2;
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0)) throw new InvalidArgumentError("Expected a share such as 0.9.");
  return value;
}
