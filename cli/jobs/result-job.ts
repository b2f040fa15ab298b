import type { Command } from "commander";
import type { Job } from "../../client/job";
import type { Input, routes } from "../../contract";
import { type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { escapeControls } from "../terminal/layout";
import { duration } from "../terminal/option-values";
import { note, print } from "../terminal/output";
import { assertOutputFile, projectFiles, writeOutputFile } from "../terminal/output-file";
import { fetchResult, type JobResult, parseResult } from "./job-result";
import { waitForJob } from "./wait";

/** Options of commands that run a query or a clustering. */
export interface ResultJobOptions extends ServiceOptions {
  readonly project?: string;
  readonly model?: string;
  readonly name?: string;
  readonly wait: boolean;
  readonly timeout?: number;
  readonly out?: string;
  /** File with the queries, if the command reads one. */
  readonly file?: string;
}

/** A query or clustering that has succeeded, with its downloaded result. */
export interface FinishedJob {
  readonly jobId: string;
  readonly job: Job;
  readonly result: JobResult;
  /** The parsed result, if it is JSON. */
  readonly json: unknown;
}

/** Exit codes of the commands that run a query or a clustering, for their help. */
export const resultJobExitCodes = `
Exit codes:
  0  the result is printed (or, with --no-wait, the job is submitted)
  1  the command failed
  4  the job failed
  5  the job did not end within --timeout; it keeps running`;

/** Adds a command that runs a query or a clustering. */
export function resultJobCommand(
  program: Command,
  usage: string,
  description: string,
  help: string,
): Command {
  return serviceCommand(program, usage, description, help)
    .option("--project <id>", "project; with --stack its name, or the only one")
    .option("--model <id>", "model; with --stack its name, or the only one")
    .option("--name <text>", "name of the job")
    .option("--out <file>", "write the whole result to a file; overwrites it")
    .option("--timeout <time>", "longest wait, as in 90m (default: as configured)", duration)
    .option("--no-wait", "only submit the job, and print its id");
}

type ResultJobRoute = typeof routes.submitQueryingJob | typeof routes.submitClusteringJob;

/** Submits a query or clustering, waits for it, downloads the result and calls `report` with it. */
export async function runResultJob<R extends ResultJobRoute>(
  options: ResultJobOptions,
  route: R,
  request: (common: { projectId: string; modelId: string; name: string }) => Input<R>,
  report: (finished: FinishedJob) => Promise<void> | void,
): Promise<void> {
  // Check the output file first, because the job takes a while.
  if (options.out !== undefined)
    assertOutputFile(options.out, [
      ...(options.file ? [options.file] : []),
      ...projectFiles(options.cwd ?? "."),
    ]);
  await usingService(options, async (opened) => {
    const projectId = opened.resolveId("Project", options.project, "--project");
    const modelId = opened.resolveId("Model", options.model, "--model");
    const name = options.name ?? `recommender ${new Date().toISOString().slice(0, 16)}`;
    const { jobId } = await opened.client.call<ResultJobRoute>(route, request({ projectId, modelId, name }));
    if (!options.wait) {
      print(options, { jobId, projectId }, () => `${jobId}\n`);
      return;
    }
    const timeoutMs = options.timeout;
    const job = { ...(await waitForJob(opened, options, { projectId, jobId, timeoutMs })), jobId };
    const result = await fetchResult(job);
    if (options.out !== undefined) {
      writeOutputFile(options.out, result.body);
      note(`The whole result is in ${options.out}`);
    }
    // `distribution` downloads the charts itself, so remove the service's hint about &format=svg.
    const message = job.jobResult?.message?.replace(/\s*Add &format=svg\b.*$/, "");
    if (message) note(escapeControls(message));
    await report({ jobId, job, result, json: parseResult(result) });
  });
}

/** Saves a result in an unknown format to a file. The API specification does not define the format of results. */
export function saveUnknownResult({ jobId, result, json }: FinishedJob, options: ResultJobOptions): void {
  const file = options.out ?? `${jobId}.${result.type.split("/")[1]?.replace(/[^a-z0-9].*/, "") || "result"}`;
  if (options.out === undefined) writeOutputFile(file, result.body);
  print(options, { jobId, file, ...(json !== undefined && { result: json }) }, () => {
    return `Unrecognised result format (${result.type || "no type"}); saved to ${file}\n`;
  });
}
