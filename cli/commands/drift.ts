import { type Command, InvalidArgumentError, Option } from "commander";
import { type FailCondition, failConditions, shouldFail } from "../drift/fail-on";
import type { Format } from "../drift/render/formats";
import { exitCodes } from "../terminal/exit";
import { wrapLines } from "../terminal/layout";

interface DriftOptions {
  readonly stack?: string[];
  readonly cwd: string;
  readonly format?: Format;
  readonly json?: true;
  readonly output?: string[];
  readonly failOn: readonly FailCondition[];
  readonly schema?: true;
}

const help = `
Two comparisons, kept apart; neither writes to the state or to the service:
  drift            state ↔ service: changed outside the program
  pending changes  program ↔ state: what \`pulumi up\` would do

With --output, the file's extension selects the format (.txt, .md, .json,
.sarif, .html) unless --format is given. It may be repeated.

Exit codes:
  0  nothing of what --fail-on names was found
  1  the comparison failed
  2  something of it was found

Examples:
  recommender drift --stack dev
  recommender drift --stack dev prod --json
  recommender drift --stack prod --output drift.md --output drift.sarif
  recommender drift --stack prod --fail-on drift,replace`;

/** Adds `recommender drift`. */
export function addDrift(program: Command): void {
  program
    .command("drift")
    .description("Tell what has drifted, and what the program would change.")
    .option("--stack <name...>", "stacks to compare; the selected one unless given")
    .option("--cwd <dir>", "folder of the project", ".")
    .addOption(
      new Option("--format <name>", "form of the report; text unless given").choices([
        "text",
        "markdown",
        "json",
        "sarif",
        "html",
      ]),
    )
    .option("--json", "the same as --format json")
    .option("--output <file>", "file for the report; may be repeated", collect)
    .option(
      "--fail-on <what>",
      "drift, changes, replace, unmanaged, orphans or none; commas between",
      failOn,
      ["drift", "changes"],
    )
    .option("--schema", "print the schema of the JSON report, and compare nothing")
    .addHelpText("after", help)
    .action(drift);
}

/** Loaded here and not above, so that the other commands do not wait for the engine's interface. */
async function drift(options: DriftOptions): Promise<void> {
  if (options.schema) {
    const { jsonSchema } = await import("../drift/finding.js");
    process.stdout.write(`${JSON.stringify(jsonSchema(), null, 2)}\n`);
    return;
  }
  const { formatOf, renderers } = await import("../drift/render/formats.js");
  const { compareStacks } = await import("../drift/compare.js");
  const { OpenStack, selectedStack } = await import("../stack/open.js");
  const { summaryLine } = await import("../drift/render/wording.js");
  const { writeFile } = await import("node:fs/promises");
  const chosen = options.json ? "json" : options.format;
  // A name without a known extension is reported before the comparison, which takes a while.
  const files = (options.output ?? []).map((file) => ({ file, format: chosen ?? formatOf(file) }));
  const { cwd } = options;
  const names = new Set(options.stack ?? [await selectedStack(cwd)]);
  const stacks = await Promise.all([...names].map((stack) => OpenStack.open({ cwd, stack })));
  const report = await compareStacks(cwd, stacks);
  for (const { file, format } of files) await writeFile(file, renderers[format](report));
  if (files.length > 0)
    process.stdout.write(wrapLines(`${report.stacks.map(summaryLine).join("\n")}\n`, process.stdout));
  else process.stdout.write(renderers[chosen ?? "text"](report));
  process.exitCode = shouldFail(report, options.failOn) ? exitCodes.found : 0;
}

function collect(file: string, earlier: string[] = []): string[] {
  return [...earlier, file];
}

function failOn(text: string): readonly FailCondition[] {
  const words = text.split(",").map((word) => word.trim() as FailCondition);
  if (words.every((word) => failConditions.includes(word))) return words;
  throw new InvalidArgumentError(
    `Expected one or more of ${failConditions.join(", ")}, separated by commas.`,
  );
}
