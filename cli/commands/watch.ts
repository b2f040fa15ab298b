import type { Command } from "commander";
import type { Release } from "../release/history";
import { exitCodes } from "../terminal/exit";
import { duration } from "../terminal/option-values";
import { defined, note, print } from "../terminal/output";
import { cwdOption, releasesDirectory, releasesOption } from "./release";

interface WatchOptions {
  readonly cwd: string;
  readonly releases?: string;
  readonly for?: number;
  readonly json?: true;
}

const help = `
Requests recommendations for real users at a low rate, and reads the metrics of
the service if it has any. If a limit in recommender.yaml is violated
(promotion.stages.STACK.watch), the former models are deployed again.

Continues a watch that was interrupted, such as that of \`promote --watch\`.
Otherwise it watches the newest release.

Exit codes:
  0  no limit was violated, or another change has ended the watch
  1  the command failed; run it again to continue
  2  a limit was violated; the history says what was done

Examples:
  recommender watch prod
  recommender watch prod --for 30m --json`;

/** Adds `recommender watch`. */
export function addWatch(program: Command): void {
  program
    .command("watch")
    .description("Watch the answers of a stack's live models, and roll back if they are bad.")
    .argument("<stack>", "stack to watch")
    .option("--for <duration>", "how long to watch (default: as in the policy)", duration)
    .addOption(cwdOption())
    .addOption(releasesOption())
    .option("--json", "print the watched release as JSON")
    .addHelpText("after", help)
    .action(run);
}

async function run(stack: string, options: WatchOptions): Promise<void> {
  const { watchStack } = await import("../watch/command.js");
  const { figureTexts } = await import("../watch/display.js");
  const { cwd, for: forMs, json } = options;
  const releases = releasesDirectory(options);
  const release = await watchStack({ cwd, stack, releases, ...defined({ forMs }), json, log: note });
  print(options, release, () => describe(release, figureTexts));
  if (release.watch?.state === "failed") process.exitCode = exitCodes.rejected;
}

function describe(
  { id, watch, reason }: Release,
  texts: (watch: NonNullable<Release["watch"]>) => string[],
): string {
  if (!watch) return "";
  const lines = texts(watch).map((text) => `  ${text}`);
  const head = {
    passed: `${id} passed its watch`,
    failed: `${id} failed its watch: ${reason}`,
    ended: `Another change has ended the watch of ${id}`,
    watching: `${id} is still watched`,
  }[watch.state];
  return `${[head, ...lines, "Commit the release file."].join("\n")}\n`;
}
