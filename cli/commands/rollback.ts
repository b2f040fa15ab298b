import { type Command, Option } from "commander";
import type { Rollback } from "../promote/rollback";
import { releaseFlags } from "../stack/flags";
import { exitCodes } from "../terminal/exit";
import { note, print } from "../terminal/output";
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
Only deployments change: nothing is trained, and no records are loaded. The
models are pinned in the configuration of the stack (recommender:pinnedModels),
so that the next \`pulumi up\` keeps them. --undo, or the next promotion to the
stack, has what the program declares serve again. Commit Pulumi.STACK.yaml and
releases/STACK.json.

Exit codes:
  0  it can be done, or is done: the models serve
  1  something went wrong, or there is nothing to go back to
  2  a check failed; the models that served before serve again

Examples:
  recommender rollback prod
  recommender rollback prod --yes
  recommender rollback prod --to prod-3 --yes
  recommender rollback prod --undo --yes`;

/** Adds `recommender rollback`. */
export function addRollback(program: Command): void {
  program
    .command("rollback")
    .description(
      "Go back to the models of an earlier release, without training: review it, or carry it out with --yes.",
    )
    .argument("<stack>", "stack to roll back")
    .option("--to <release>", "release to go back to; the newest earlier one with other models unless given")
    .option("--undo", "have the models serve again that the program declares")
    .option("--yes", "carry it out")
    // What it does without --yes; an option of its own in 0.1.0.
    .addOption(new Option("--preview").conflicts("yes").hideHelp())
    .addOption(cwdOption())
    .addOption(releasesOption())
    .option("--json", "print the outcome as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(stack: string, options: RollbackOptions): Promise<void> {
  if (options.to !== undefined && options.undo) throw new Error("--to and --undo contradict each other");
  const { rollBack } = await import("../promote/rollback.js");
  const outcome = await rollBack({
    ...{ stack, cwd: options.cwd, releases: releasesDirectory(options) },
    ...(options.to !== undefined && { to: options.to }),
    undo: options.undo === true,
    preview: options.yes !== true,
    log: note,
  });
  print(options, outcome, () => describe(outcome, options));
  if (outcome.release?.status === "failed") process.exitCode = exitCodes.rejected;
}

function describe({ stack, to, before, after, release }: Rollback, options: RollbackOptions): string {
  const target = to ? `to ${to}` : "to what the program declares";
  if (release?.status === "failed") return `${stack} did not go back ${target}: ${release.reason}\n`;
  const lines = after.flatMap(({ name, generator, check }) => {
    const former = before.find((served) => served.name === name)?.generator.modelId;
    const tried = release && check ? `, check ${check.result}` : "";
    return [`  ${name}: ${generator.modelId}${tried}`, `    before: ${former ?? "nothing"}`];
  });
  const head = release ? `${stack} went back ${target} as ${release.id}` : `${stack} would go back ${target}`;
  const same = options.undo ? " --undo" : options.to === undefined ? "" : ` --to ${options.to}`;
  const where = releaseFlags(options.cwd, releasesDirectory(options));
  const next = release
    ? `Commit Pulumi.${stack.split("/").at(-1)}.yaml and the release file.\n`
    : `Carry it out with \`recommender rollback ${stack}${same}${where} --yes\`.\n`;
  return `${[head, ...lines].join("\n")}\n${next}`;
}
