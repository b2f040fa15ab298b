import { type Command, InvalidArgumentError, Option } from "commander";
import { type GateName, gateNames } from "../policy/gates";
import type { Override } from "../policy/promotion-gates";
import type { PromotionRequest } from "../promote/promotion";
import { baselines, defaultRatio } from "../promote/quality";
import { exitCodes } from "../terminal/exit";
import { duration, share } from "../terminal/option-values";
import { defined, note, print } from "../terminal/output";
import { assertOutputFile, projectFiles, writeOutputFile } from "../terminal/output-file";
import { allowOption, cwdOption, releasesDirectory, releasesOption } from "./release";

interface PromoteOptions extends Pick<PromotionRequest, "cwd" | "allow" | "minQualityRatio" | "against"> {
  readonly watch?: number;
  readonly releases?: string;
  readonly override: readonly GateName[];
  readonly reason?: string;
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

With --watch, or watch in the policy, TO gets requests for real users after the
switch, and its former models again if a limit of the policy is violated.

The gates of promotion in recommender.yaml must be open: stage order, soak time,
windows, freezes, quality and approvals. --override opens one; the history
records it with the reason and who ran the command.

Exit codes:
  0  the promotion is possible or done, or there is nothing to do
  1  the command failed; run it again to resume
  2  the promotion is blocked, a gate is closed, or it failed; the reasons are
     listed

Examples:
  recommender promote dev staging
  recommender promote dev staging --output review.md
  recommender promote staging prod --yes --min-quality-ratio 0.95
  recommender promote staging prod --yes --override freeze --reason "fix 4711"`;

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
    .addOption(
      new Option("--override <gate>", "override a closed gate; may be repeated")
        .choices([...gateNames])
        .argParser(gateName)
        .default([], "none"),
    )
    .option("--reason <text>", "why the gates are overridden")
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
    .option("--watch <duration>", "watch TO after the switch, and roll back if a limit is violated", duration)
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
  const override = overrideOf(options);
  const { watch, ...rest } = options;
  const more = { releases: releasesDirectory(options), yes: options.yes === true, override, log: note };
  const review = await promote({ ...rest, from, to, ...more, ...defined({ watchMs: watch }) });
  if (options.output) writeOutputFile(options.output, commentOf(review));
  const summary = `Promotion ${from} → ${to}: ${review.verdict}; see ${options.output}\n`;
  print(options, review, () => (options.output ? summary : reviewText(review)));
  if (review.verdict === "refused" || review.verdict === "failed") process.exitCode = exitCodes.rejected;
}

function gateName(text: string, earlier: readonly GateName[]): GateName[] {
  const gate = gateNames.find((name) => name === text);
  if (gate) return [...earlier, gate];
  throw new InvalidArgumentError(`Allowed choices are ${gateNames.join(", ")}.`);
}

/** Returns the gates to override. They need a reason, because the history must explain the exception. */
function overrideOf({ override, reason = "" }: PromoteOptions): Override | undefined {
  if (override.length === 0 && reason === "") return undefined;
  if (override.length === 0) throw new Error("--reason needs --override GATE, the gate to override.");
  if (reason.trim() === "") throw new Error("--override needs --reason TEXT, which the history records.");
  return { gates: override, reason: reason.trim() };
}
