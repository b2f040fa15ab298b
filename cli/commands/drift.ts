import { type Command, InvalidArgumentError, Option } from "commander";
import { type FailCondition, failConditions, shouldFail } from "../drift/fail-on";
import type { Format } from "../drift/render/formats";
import { exitCodes } from "../terminal/exit";
import { wrapLines } from "../terminal/layout";
import { commaSeparated } from "../terminal/option-values";

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
Runs two comparisons, which change nothing:
  drift            state ↔ service: changed outside the program
  pending changes  program ↔ state: what \`pulumi up\` would do

With --output, the file's extension selects the format (.txt, .md, .json,
.sarif, .html) unless --format is given. It may be repeated.

Exit codes:
  0  nothing that --fail-on selects was found
  1  the comparison failed
  2  something that --fail-on selects was found

Examples:
  recommender drift --stack dev
  recommender drift --stack dev prod --json
  recommender drift --stack prod --output drift.md --output drift.sarif
  recommender drift --stack prod --fail-on drift,replace`;

const formats: readonly Format[] = ["text", "markdown", "json", "sarif", "html"];

/** Adds `recommender drift`. */
export function addDrift(program: Command): void {
  program
    .command("drift")
    .description("Show drift, and what the program would change.")
    .option("--stack <name...>", "stacks to compare (default: the selected stack)")
    .option("--cwd <dir>", "project directory", ".")
    .addOption(new Option("--format <name>", "format of the report (default: text)").choices(formats))
    .option("--json", "the same as --format json")
    .option("--output <file>", "write the report to a file; may be repeated", collect)
    .option(
      "--fail-on <what>",
      "drift, changes, replace, unmanaged, orphans or none, comma-separated",
      failOn,
      ["drift", "changes"],
    )
    .option("--schema", "only print the JSON schema of the report")
    .addHelpText("after", help)
    .action(drift);
}

/**
 * Runs `recommender drift`. Imports its modules only now, because loading the Automation API would slow down other
 * commands.
 */
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
  const { assertOutputFile, projectFiles, writeOutputFile } = await import("../terminal/output-file.js");
  const chosen = options.json ? "json" : options.format;
  // Check the file extensions before the comparison, which takes a while.
  const files = (options.output ?? []).map((file) => ({ file, format: chosen ?? formatOf(file) }));
  const { cwd } = options;
  for (const { file } of files) assertOutputFile(file, projectFiles(cwd));
  const names = new Set(options.stack ?? [await selectedStack(cwd)]);
  const stacks = await Promise.all([...names].map((stack) => OpenStack.open({ cwd, stack })));
  const report = await compareStacks(cwd, stacks);
  for (const { file, format } of files) writeOutputFile(file, renderers[format](report));
  if (files.length > 0)
    process.stdout.write(wrapLines(`${report.stacks.map(summaryLine).join("\n")}\n`, process.stdout));
  else process.stdout.write(renderers[chosen ?? "text"](report));
  process.exitCode = shouldFail(report, options.failOn) ? exitCodes.found : 0;
}

function collect(file: string, earlier: string[] = []): string[] {
  return [...earlier, file];
}

function failOn(text: string): readonly FailCondition[] {
  const conditions = commaSeparated(text) as FailCondition[];
  if (conditions.every((condition) => failConditions.includes(condition))) return conditions;
  throw new InvalidArgumentError(`Expected one or more of ${failConditions.join(", ")}, comma-separated.`);
}
