import type { Command } from "commander";
import type { Job } from "../../client/job";
import type { Input, routes } from "../../contract";
import { type OpenService, type ServiceOptions, usingService, withService } from "../stack/service";
import { escapeControls } from "../terminal/layout";
import { duration } from "../terminal/option-values";
import { note, print } from "../terminal/output";
import { fetchResult, type JobResult, writeResultFile } from "./job-result";
import { waitForJob } from "./wait";

/** What every question to a model is asked with. */
export interface ResultJobOptions extends ServiceOptions {
  readonly project?: string;
  readonly model?: string;
  readonly name?: string;
  readonly wait: boolean;
  readonly timeout?: number;
  readonly out?: string;
}

/** A question that was answered. */
export interface FinishedJob {
  readonly jobId: string;
  readonly job: Job;
  readonly result: JobResult;
}

/** The exit codes of questions, for their help. */
export const resultJobExitCodes = `
Exit codes:
  0  the answer is there (or, with --no-wait, the job is submitted)
  1  it could not be asked or answered; the message says why
  4  the job failed
  5  the job is not over within --timeout; it keeps running`;

/** Adds the options of a question to a model. */
export function withResultJob(command: Command): Command {
  return withService(command)
    .option("--project <id>", "project; with --stack its name, or the only one")
    .option("--model <id>", "model to ask; with --stack its name, or the only one")
    .option("--name <text>", "name of the job")
    .option("--out <file>", "write the whole result into a file")
    .option("--timeout <time>", "wait so long at most, as in 90m; as configured unless given", duration)
    .option("--no-wait", "only submit the job, and print its id");
}

type ResultJobRoute = typeof routes.submitQueryingJob | typeof routes.submitClusteringJob;

/** Submits a question, waits for the answer, fetches it, and hands it over to be printed. */
export async function runResultJob<R extends ResultJobRoute>(
  options: ResultJobOptions,
  route: R,
  request: (of: { projectId: string; modelId: string; name: string }) => Input<R>,
  report: (answer: FinishedJob, opened: OpenService) => Promise<void>,
): Promise<void> {
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
      writeResultFile(options.out, result.body);
      note(`The whole result is in ${options.out}`);
    }
    // Charts are fetched by the command itself, which needs no telling how.
    const message = job.jobResult?.message?.replace(/\s*Add &format=svg\b.*$/, "");
    if (message) note(escapeControls(message));
    await report({ jobId, job, result }, opened);
  });
}

/** Tells an answer of a form that is not known: the specification shows none. */
export function saveUnknownResult(
  { jobId, result }: FinishedJob,
  options: ResultJobOptions,
  json: unknown,
): void {
  const file = options.out ?? `${jobId}.${result.type.split("/")[1]?.replace(/[^a-z0-9].*/, "") || "result"}`;
  if (options.out === undefined) writeResultFile(file, result.body);
  print(options, { jobId, file, ...(json === undefined ? {} : { result: json }) }, () => {
    return `Unrecognised result format (${result.type || "no type"}); saved to ${file}\n`;
  });
}
