import type { Command } from "commander";
import { type Job, progressText } from "../../client/job";
import { routes } from "../../contract";
import { downloadResult } from "../jobs/job-result";
import { waitForJob } from "../jobs/wait";
import { type OpenService, type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { propertyList } from "../terminal/layout";
import { duration } from "../terminal/option-values";
import { examples, formatNumber, formatTime, note, print } from "../terminal/output";
import { assertOutputFile, projectFiles } from "../terminal/output-file";
import { exposureProperties, qualityText } from "../terminal/quality";

interface JobOptions extends ServiceOptions {
  readonly project?: string;
  readonly download?: string;
  readonly timeout?: number;
}

const waitHelp = `
Exit codes:
  0  the job succeeded
  4  the job failed
  5  the job did not end within --timeout; it keeps running

Examples:
  recommender jobs wait ID --project ID
  recommender jobs wait ID --stack dev --timeout 2h --download result.json`;

const getHelp = `
Examples:
  recommender jobs get ID --project ID
  recommender jobs get ID --stack dev --json
  recommender jobs get ID --stack dev --download result.json`;

/** Types of the resources that submit jobs. Their ids are job ids. */
const jobTypes = ["TrainingJob", "DeploymentJob", "QueryingJob", "ClusteringJob", "RecommendationJob"];

/** Adds `recommender jobs`. */
export function addJobs(program: Command): void {
  const jobs = program
    .command("jobs")
    .description("Show jobs and wait for them.")
    .addHelpText("after", examples("jobs get ID --project ID", "jobs wait ID --stack dev"));
  const command = (usage: string, description: string, help: string) =>
    serviceCommand(jobs, usage, description, help)
      .option("--project <id>", "project of the job; with --stack its name, or the only one")
      .option("--download <file>", "write the result of the job to a file");

  command("get <job>", "Show one job.", getHelp).action((given: string, options: JobOptions) =>
    usingService(options, async (opened) => {
      const ids = idsOf(given, opened, options);
      await report(await opened.client.call(routes.getJob, ids), ids.jobId, options);
    }),
  );

  command("wait <job>", "Wait until a job has succeeded.", waitHelp)
    .option("--timeout <time>", "longest wait, as in 90m (default: as configured)", duration)
    .action((given: string, options: JobOptions) =>
      usingService(options, async (opened) => {
        const ids = idsOf(given, opened, options);
        const job = await waitForJob(opened, options, { ...ids, timeoutMs: options.timeout });
        await report(job, ids.jobId, options);
      }),
    );
}

function idsOf(given: string, { resolveId }: OpenService, { project }: JobOptions) {
  return { jobId: resolveId(jobTypes, given, "job"), projectId: resolveId("Project", project, "--project") };
}

async function report(job: Job, jobId: string, options: JobOptions): Promise<void> {
  if (options.download !== undefined) {
    assertOutputFile(options.download, projectFiles(options.cwd ?? "."));
    await downloadResult({ ...job, jobId }, options.download);
    note(`The result is in ${options.download}`);
  }
  print(options, { ...job, jobId }, () => describe(job, jobId));
}

function describe(job: Job, jobId: string): string {
  const { jobResult, jobData } = job;
  const { modelId, servingUri, downloadUrl, expiredAtSec, message, userCount } = jobResult ?? {};
  const until = expiredAtSec == null ? "" : `, until ${formatTime(expiredAtSec * 1000)}`;
  return propertyList([
    ["id", jobId],
    ["name", job.name ?? undefined],
    ["type", job.jobType ?? undefined],
    ["status", job.jobStatus],
    ["progress", progressText(job)],
    ["retries", job.retryCount ? String(job.retryCount) : undefined],
    ["project", job.projectId ?? undefined],
    ["created", formatTime(job.createdTs)],
    ["model", modelId ?? jobData?.modelId ?? jobData?.generatorModelId ?? undefined],
    ["NDCG@20", qualityText(jobData?.quality ?? {})],
    ...exposureProperties(jobData?.quality ?? {}),
    ["serving address", servingUri ?? undefined],
    ["users", userCount == null ? undefined : formatNumber(userCount)],
    // Anyone can use the download address without a key, so only --json prints it.
    ["result", downloadUrl ? `download it with --download FILE${until}` : undefined],
    ["message", message ?? undefined],
  ]);
}
