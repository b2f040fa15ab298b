import { type Command, Option } from "commander";
import { type Input, recommendationJobFields, routes } from "../../contract";
import { type Condition, condition } from "../jobs/conditions";
import { downloadResult } from "../jobs/job-result";
import { waitForJob } from "../jobs/wait";
import { type OpenService, type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { readIdFile } from "../terminal/id-file";
import { escapeControls } from "../terminal/layout";
import { commaSeparated, duration, wholeNumber } from "../terminal/option-values";
import { formatCount, note, print } from "../terminal/output";
import { assertOutputFile, projectFiles } from "../terminal/output-file";

type Request = Input<typeof routes.submitRecommendationJob>;

interface BatchOptions extends ServiceOptions {
  readonly project?: string;
  readonly model?: string;
  readonly name?: string;
  readonly users?: string;
  readonly where?: readonly Condition[];
  readonly limit: number;
  readonly attributes: readonly string[];
  readonly filter?: string;
  readonly exclude?: readonly string[];
  readonly include?: readonly string[];
  readonly format: NonNullable<Request["format"]>;
  readonly out?: string;
  readonly timeout?: number;
  readonly wait: boolean;
}

const help = `
Recommends to all users, or to those in --users or those who meet all conditions
of --where, as in \`query\`. Uses the deployment with its rules, or the model of
--model without rules. Leaves out users who were forgotten. In NDJSON, the file
has a line per user; in Parquet, it has a row per user and item.

This command needs the service in this package.

Exit codes:
  0  the file is written (or, with --no-wait, the job is submitted)
  1  the command failed
  4  the job failed
  5  the job did not end within --timeout; it keeps running

Examples:
  recommender batch --stack dev --out lists.ndjson
  recommender batch --stack dev --limit 5 --attributes title --format parquet \\
    --filter 'item.in_stock == "yes"' --out lists.parquet
  recommender batch --project ID --where genre=jazz:0.5.. --out jazz.ndjson
  recommender batch --project ID --users users.txt --no-wait`;

/** Adds `recommender batch`. */
export function addBatch(program: Command): void {
  const formats = Object.values(recommendationJobFields.shape.format.unwrap().enum);
  serviceCommand(program, "batch", "Recommend items to many users, and write a file.", help)
    .option("--project <id>", "project; with --stack its name, or the only one")
    .option("--model <id>", "model to use instead of the deployment; with --stack its name")
    .option("--name <text>", "name of the job")
    .addOption(new Option("--users <file>", "file with ids of users, one per line").conflicts("where"))
    .option("--where <condition>", "a condition on usage; may be repeated", condition)
    .option("--limit <number>", "number of items per user", wholeNumber(1), 10)
    .option("--attributes <names>", "comma-separated item attributes to write", commaSeparated, [])
    .option("--filter <expression>", "only items for which it is true")
    .option("--exclude <ids>", "comma-separated items to leave out", commaSeparated)
    .option("--include <ids>", "comma-separated items to choose from", commaSeparated)
    .addOption(new Option("--format <format>", "format of the file").choices(formats).default("ndjson"))
    .option("--out <file>", "file to write; overwrites it")
    .option("--timeout <time>", "longest wait, as in 90m (default: as configured)", duration)
    .option("--no-wait", "only submit the job, and print its id")
    .action(batch);
}

async function batch(options: BatchOptions): Promise<void> {
  const { out, users, wait } = options;
  if (wait && out === undefined)
    throw new Error("Choose a file with --out FILE, or only submit the job with --no-wait.");
  // Check the files first, because the job takes a while.
  if (out !== undefined)
    assertOutputFile(out, [...(users === undefined ? [] : [users]), ...projectFiles(options.cwd ?? ".")]);
  const userIds = users === undefined ? undefined : idsIn(users);
  await usingService(options, async (opened) => {
    const projectId = opened.resolveId("Project", options.project, "--project");
    const request = { ...requestOf(options, opened), projectId, ...(userIds && { userIds }) };
    const { jobId } = await opened.client.call(routes.submitRecommendationJob, request);
    if (!wait || out === undefined) return print(options, { jobId, projectId }, () => `${jobId}\n`);
    const { timeout: timeoutMs } = options;
    const job = { ...(await waitForJob(opened, options, { projectId, jobId, timeoutMs })), jobId };
    await downloadResult(job, out);
    const { userCount = null, message } = job.jobResult ?? {};
    if (message) note(escapeControls(message));
    print(options, { jobId, file: out, userCount }, () => {
      const whom = userCount === null ? "" : ` for ${formatCount(userCount, "user")}`;
      return `The recommendations${whom} are in ${out}\n`;
    });
  });
}

function idsIn(file: string): string[] {
  const ids = readIdFile(file);
  if (ids.length === 0) throw new Error(`${file} contains no id. Write one id per line.`);
  return ids;
}

function requestOf(options: BatchOptions, { resolveId }: OpenService): Omit<Request, "projectId"> {
  const { model, where, limit, attributes, filter, exclude, include, format } = options;
  return {
    name: options.name ?? `recommender ${new Date().toISOString().slice(0, 16)}`,
    limit,
    attributes: [...attributes],
    format,
    ...(model !== undefined && { modelId: resolveId("Model", model, "--model") }),
    ...(where && { query: { conditions: [...where] } }),
    ...(filter !== undefined && { filterQuery: filter }),
    ...(exclude && { excludeItemIds: [...exclude] }),
    ...(include && { includeItemIds: [...include] }),
  };
}
