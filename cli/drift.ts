import type { Command } from "commander";

/** Adds `recommender drift`. */
export function addDrift(program: Command): void {
  program
    .command("drift")
    .description("Compare the program with the state, and the state with the service.")
    .option("--stack <name...>", "stacks to compare; the selected one unless given")
    .option("--cwd <dir>", "folder of the project", ".")
    .action(async ({ stack, cwd }: { stack?: string[]; cwd: string }) => {
      const { compareStacks } = await import("./drift/compare.js");
      const { selectedStack } = await import("./drift/engine.js");
      const report = await compareStacks({ cwd, stacks: stack ?? [await selectedStack(cwd)] });
      process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
      process.exitCode = report.verdict === "clean" ? 0 : 2;
    });
}
