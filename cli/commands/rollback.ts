import { type Command, Option } from "commander";
import type { Rollback } from "../promote/rollback";
import { ruleDiff } from "../release/rules-text";
import { releaseFlags } from "../stack/flags";
import { exitCodes } from "../terminal/exit";
import { defined, note, print } from "../terminal/output";
import { cwdOption, releasesDirectory, releasesOption } from "./release";

interface RollbackOptions {
  readonly cwd: string;
  readonly releases?: string;
  readonly to?: string;
  readonly undo?: true;
  readonly preview?: true;
  readonly yes?: true;
  readonly json?: true;
}

const help = `
Only deployments change; nothing is trained or uploaded. The models and rules
are pinned in the stack's configuration (recommender:pinnedModels), so the next
\`pulumi up\` keeps them. --undo, or the next promotion to the stack, deploys what
the program declares. Commit Pulumi.STACK.yaml and releases/STACK.json.

Exit codes:
  0  the rollback is possible or done
  1  the command failed, or there is no release to roll back to
  2  a check failed; the models from before the rollback are live

Examples:
  recommender rollback prod
  recommender rollback prod --yes
  recommender rollback prod --to prod-3 --yes
  recommender rollback prod --undo --yes`;

/** Adds `recommender rollback`. */
export function addRollback(program: Command): void {
  program
    .command("rollback")
    .description("Deploy the models of an earlier release: review it, or apply it with --yes.")
    .argument("<stack>", "stack to roll back")
    .option("--to <release>", "target release (default: the newest earlier one with other models)")
    .option("--undo", "deploy the models that the program declares")
    .option("--yes", "apply the rollback")
    // A preview is the default since 0.2.0. Scripts written for 0.1.0 may still pass this option.
    .addOption(new Option("--preview").conflicts("yes").hideHelp())
    .addOption(cwdOption())
    .addOption(releasesOption())
    .option("--json", "print the result as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(stack: string, options: RollbackOptions): Promise<void> {
  if (options.to !== undefined && options.undo)
    throw new Error("--to and --undo exclude each other. Pass only one.");
  const { rollBack } = await import("../promote/rollback.js");
  const outcome = await rollBack({
    stack,
    cwd: options.cwd,
    releases: releasesDirectory(options),
    ...defined({ to: options.to }),
    undo: options.undo === true,
    preview: options.yes !== true,
    log: note,
  });
  print(options, outcome, () => describe(outcome, options));
  if (outcome.release?.status === "failed") process.exitCode = exitCodes.rejected;
}

function describe({ stack, to, before, after, release }: Rollback, options: RollbackOptions): string {
  const target = to ?? "the models that the program declares";
  if (release?.status === "failed") return `Cannot roll back ${stack} to ${target}: ${release.reason}\n`;
  const lines = after.flatMap((served) => {
    const { name, generator, check } = served;
    const live = before.find((one) => one.name === name);
    const former = live?.generator.modelId;
    const checked = release && check ? `, check ${check.result}` : "";
    const rules = ruleDiff(live?.rules, served.rules, "    ");
    return [`  ${name}: ${generator.modelId}${checked}`, `    before: ${former ?? "none"}`, ...rules];
  });
  const head = release
    ? `Rolled back ${stack} to ${target} as ${release.id}`
    : `This would roll back ${stack} to ${target}`;
  const flags = options.undo ? " --undo" : options.to === undefined ? "" : ` --to ${options.to}`;
  const directories = releaseFlags(options.cwd, releasesDirectory(options));
  const next = release
    ? `Commit Pulumi.${stack.split("/").at(-1)}.yaml and the release file.\n`
    : `Apply it with \`recommender rollback ${stack}${flags}${directories} --yes\`.\n`;
  return `${[head, ...lines].join("\n")}\n${next}`;
}
