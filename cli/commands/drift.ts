import { type Command, Option } from "commander";
import { type FailCondition, failConditions, shouldFail } from "../drift/fail-on";
import type { Format } from "../drift/render/formats";
import { addReportOptions } from "../drift/report-options";
import { exitCodes } from "../terminal/exit";
import { wrapLines } from "../terminal/layout";
import { note } from "../terminal/output";

interface DriftOptions {
  readonly stack?: string[];
  readonly cwd: string;
  readonly format?: Format;
  readonly json?: true;
  readonly output?: string[];
  readonly failOn: readonly FailCondition[];
  readonly since?: string;
  readonly notify?: string;
  readonly schema?: true;
}

const help = `
Runs two comparisons, which change nothing:
  drift            state ↔ service: changed outside the program
  pending changes  program ↔ state: what \`pulumi up\` would do

With --output, the file's extension selects the format (.txt, .md, .json,
.sarif, .html) unless --format is given. It may be repeated.

Findings that recommender.yaml accepts are listed, but do not count. An expired
entry counts as found, unless --fail-on is none.

--notify posts new and resolved findings once: compared with the report of
--since or, without it, with what this user has posted to the same webhook.

Exit codes:
  0  nothing that --fail-on selects was found
  1  the comparison or the notification failed
  2  something that --fail-on selects was found

Examples:
  recommender drift --stack dev
  recommender drift --stack dev prod --json
  recommender drift --stack prod --output drift.md --output drift.sarif
  recommender drift --stack prod --fail-on drift,replace
  recommender drift --stack prod --since drift.json --fail-on new`;

const formats: readonly Format[] = ["text", "markdown", "json", "sarif", "html"];

/** Adds `recommender drift`. */
export function addDrift(program: Command): void {
  const command = program
    .command("drift")
    .description("Show drift, and what the program would change.")
    .option("--stack <name...>", "stacks to compare (default: the selected stack)");
  addReportOptions(command, {
    what: "report",
    formats,
    conditions: failConditions,
    failOn: ["drift", "changes"],
  })
    .option("--since <report>", "earlier JSON report; show what is new or resolved")
    .addOption(
      new Option("--notify <url>", "post new and resolved findings to this Slack-compatible webhook").env(
        "RECOMMENDER_NOTIFY_URL",
      ),
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
  const { reportDrift } = await import("../drift/report.js");
  const { summaryLine } = await import("../drift/render/wording.js");
  const { assertOutputFile, projectFiles, writeOutputFile } = await import("../terminal/output-file.js");
  const chosen = options.json ? "json" : options.format;
  // Check the file extensions before the comparison, which takes a while.
  const files = (options.output ?? []).map((file) => ({ file, format: chosen ?? formatOf(file) }));
  const { cwd, failOn } = options;
  if (failOn.includes("new") && options.since === undefined)
    throw new Error("--fail-on new needs --since REPORT, the earlier report to compare with.");
  for (const { file } of files) assertOutputFile(file, projectFiles(cwd));
  const { report, failure } = await reportDrift(options);
  for (const { file, format } of files) writeOutputFile(file, renderers[format](report));
  if (files.length > 0)
    process.stdout.write(wrapLines(`${report.stacks.map(summaryLine).join("\n")}\n`, process.stdout));
  else process.stdout.write(renderers[chosen ?? "text"](report));
  process.exitCode = shouldFail(report, failOn) ? exitCodes.found : 0;
  if (failure === undefined) return;
  note(`The webhook of --notify did not get the findings: ${failure}. The next run posts them again.`);
  process.exitCode = exitCodes.failed;
}
