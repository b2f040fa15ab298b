import type { Command } from "commander";
import type { BlockerCode } from "../release/gate";
import { exitCodes } from "../terminal/exit";
import { duration, percentage, share } from "../terminal/option-values";
import { defined, note, print } from "../terminal/output";
import { allowOption, cwdOption, releasesDirectory, releasesOption } from "./release";

interface RetrainOptions {
  readonly cwd: string;
  readonly releases?: string;
  readonly ifOlder?: number;
  readonly ifNewEvents?: number;
  readonly trigger?: string;
  readonly allow: readonly Extract<BlockerCode, "changes" | "pinned">[];
  readonly minQualityRatio?: number;
  readonly dryRun?: true;
  readonly json?: true;
}

const help = `
Sets a trigger in the stack's configuration, which the program must use in the
triggers of its models, and runs \`pulumi up\`. A limit in the policy
(recommender.yaml, retrain) applies if the command has none. Without any limit,
the models are trained again now.

A new model whose NDCG@20 on held-out data is too low is not deployed. If a
check fails, the former models are deployed again. Run the same command again
after an interruption: it never submits a second training. Commit
Pulumi.STACK.yaml and releases/STACK.json.

Exit codes:
  0  no model is stale, or the new models are live
  1  the command failed; run it again to resume
  2  the retraining is blocked, or a check or the quality failed; the former
     models are live

Examples:
  recommender retrain prod --if-older 7d --if-new-events 5%
  recommender retrain prod --if-older 7d --dry-run --json
  recommender retrain prod`;

/** Adds `recommender retrain`. */
export function addRetrain(program: Command): void {
  program
    .command("retrain")
    .description("Train the models of a stack again if they are stale, and deploy them.")
    .argument("<stack>", "stack whose models to train")
    .option("--if-older <duration>", "only if a live model is at least this old, such as 7d", duration)
    .option("--if-new-events <percentage>", "only if this many more events have arrived since", percentage)
    .option("--trigger <key>", "configuration key of the trigger (default: of the policy, or retrainedAt)")
    .option(
      "--min-quality-ratio <share>",
      "required share of the quality of the live model; 0 for none (default: 0.9)",
      share,
    )
    .addOption(allowOption(["changes", "pinned"]))
    .addOption(cwdOption())
    .addOption(releasesOption())
    .option("--dry-run", "change nothing; only show which models are stale")
    .option("--json", "print the result as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(stack: string, options: RetrainOptions): Promise<void> {
  const { retrain } = await import("../retrain/retrain.js");
  const { retrainingText } = await import("../retrain/render.js");
  const { defaultRatio } = await import("../promote/quality.js");
  const { cwd, allow, ifOlder, ifNewEvents, trigger } = options;
  const outcome = await retrain({
    cwd,
    stack,
    allow,
    releases: releasesDirectory(options),
    limits: defined({ maxAgeMs: ifOlder, maxNewShare: ifNewEvents }),
    ...defined({ trigger }),
    minQualityRatio: options.minQualityRatio ?? defaultRatio,
    dryRun: options.dryRun === true,
    log: note,
  });
  print(options, outcome, () => retrainingText(outcome));
  if (outcome.verdict === "refused" || outcome.verdict === "failed") process.exitCode = exitCodes.rejected;
}
