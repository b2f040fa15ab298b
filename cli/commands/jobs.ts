import type { Command } from "commander";
import { type Job, progressText } from "../../client/job";
import { routes } from "../../contract";
import { fetchResult, keep } from "../questions/result";
import { waitForJob } from "../questions/wait";
import { type Opened, type ServiceOptions, usingService, withService } from "../stack/service";
import { properties } from "../terminal/layout";
import { duration } from "../terminal/option-values";
import { moment, note, print } from "../terminal/output";
import { exposureLines, qualityText } from "../terminal/quality";

interface JobOptions extends ServiceOptions {
  readonly project?: string;
  readonly download?: string;
  readonly timeout?: number;
}

const waitHelp = `
Exit codes:
  0  the job succeeded
  4  the job failed
  5  the job is not over within --timeout; it keeps running

Examples:
  recommender jobs wait ID --project ID
  recommender jobs wait ID --stack dev --timeout 2h --download result.json`;

const getHelp = `
Examples:
  recommender jobs get ID --project ID
  recommender jobs get ID --stack dev --json
  recommender jobs get ID --stack dev --download result.json`;

/** The kinds of resource whose id is that of a job. */
const jobNouns = ["TrainingJob", "DeploymentJob", "QueryingJob", "ClusteringJob"];

/** Adds `recommender jobs`. */
export function addJobs(program: Command): void {
  const jobs = program
    .command("jobs")
    .description("Show jobs and wait for them.")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender jobs get ID --project ID\n  recommender jobs wait ID --stack dev",
    );
  const command = (usage: string, description: string) =>
    withService(jobs.command(usage).description(description))
      .option("--project <id>", "project of the job; with --stack its name, or the only one")
      .option("--download <file>", "write the result of a query or clustering into a file");

  command("get <job>", "Show one job.")
    .addHelpText("after", getHelp)
    .action((given: string, options: JobOptions) =>
      usingService(options, async (opened) => {
        const ids = idsOf(given, opened, options);
        await report(await opened.client.call(routes.getJob, ids), ids.jobId, options);
      }),
    );

  command("wait <job>", "Wait until a job has succeeded.")
    .option("--timeout <time>", "wait so long at most, as in 90m; as configured unless given", duration)
    .addHelpText("after", waitHelp)
    .action((given: string, options: JobOptions) =>
      usingService(options, async (opened) => {
        const ids = idsOf(given, opened, options);
        const job = await waitForJob(opened, options, { ...ids, timeoutMs: options.timeout });
        await report(job, ids.jobId, options);
      }),
    );
}

function idsOf(given: string, { idOf }: Opened, { project }: JobOptions) {
  return { jobId: idOf(jobNouns, given, "job"), projectId: idOf("Project", project, "--project") };
}

async function report(job: Job, jobId: string, options: JobOptions): Promise<void> {
  if (options.download !== undefined) {
    keep(options.download, (await fetchResult(job)).body);
    note(`The result is in ${options.download}`);
  }
  print(options, { ...job, jobId }, () => describe(job, jobId));
}

function describe(job: Job, jobId: string): string {
  const { jobResult, jobData } = job;
  const { modelId, servingUri, downloadUrl, expiredAtSec, message } = jobResult ?? {};
  const until = expiredAtSec == null ? "" : `, until ${moment(expiredAtSec * 1000)}`;
  return properties([
    ["id", jobId],
    ["name", job.name ?? undefined],
    ["type", job.jobType ?? undefined],
    ["status", job.jobStatus],
    ["progress", progressText(job)],
    ["retries", job.retryCount ? String(job.retryCount) : undefined],
    ["project", job.projectId ?? undefined],
    ["created", moment(job.createdTs)],
    ["model", modelId ?? jobData?.modelId ?? jobData?.generatorModelId ?? undefined],
    ["NDCG@20", qualityText(jobData?.quality ?? {})],
    ...exposureLines(jobData?.quality ?? {}),
    ["serves at", servingUri ?? undefined],
    // The address needs no key, so that it is shown only where it is asked for.
    ["result", downloadUrl ? `--download FILE fetches it${until}` : undefined],
    ["message", message ?? undefined],
  ]);
}
