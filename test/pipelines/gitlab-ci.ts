import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Host } from "../cli/comment/hosts";
import { expand, type JobConfiguration, matchingRule, readJobs, type Variables } from "./gitlab-yaml";
import type { Conclusion } from "./pipeline";
import { Shell } from "./shell";
import type { ShopRepository } from "./shop-repository";

const execute = promisify(execFile);

/** What starts a pipeline. */
export interface GitLabEvent {
  readonly source: "push" | "merge_request_event" | "schedule" | "web";
  /** Branch that is checked out. */
  readonly branch?: string;
  /** Project of the branch, if the merge request comes from a fork. */
  readonly fork?: string;
  /** Project in which the pipeline runs. A pipeline of a fork runs in the fork, or, if a member starts it, in the project. */
  readonly runsIn?: string;
  /** Variables of the schedule, or of a pipeline that somebody starts. */
  readonly variables?: Variables;
}

/** How a job ended. */
export interface GitLabJob {
  readonly conclusion: Conclusion | "skipped";
  readonly printed: string;
  /** Artifacts, by their path. */
  readonly artifacts: Readonly<Record<string, string>>;
}

/** The project, with the number that paths of the recording server contain. */
const project = "11";

const untouched = { printed: "", artifacts: {} };

/**
 * Runs pipelines as GitLab does: every job on a new machine, with the variables of its environment. A manual job in a
 * protected environment waits until its deployment has an approval, and is then started.
 */
export class GitLabCi {
  /** Variables by scope. */
  readonly scopes: Record<string, Variables> = {};
  readonly protectedEnvironments = new Set<string>();
  /** Token in the masked variable for comments. */
  readonly token = "a-token-that-may-comment";
  readonly shell = new Shell();
  #jobs = 100;

  constructor(
    private readonly shop: ShopRepository,
    private readonly host: Host,
  ) {}

  /** Runs the jobs of a pipeline. Without a job, there is no pipeline. */
  async run(event: GitLabEvent): Promise<Record<string, GitLabJob>> {
    const { stdout } = await execute("git", ["rev-parse", event.branch ?? "main"], { cwd: this.shop.origin });
    const pipeline = this.#pipelineVariables(event, stdout.trim());
    const done: Record<string, GitLabJob> = {};
    for (const [name, job] of Object.entries(readJobs(this.shop.clone))) {
      const rule = matchingRule(job, pipeline);
      if (!rule) continue;
      const isReady = (job.needs ?? []).every((other) => done[other]?.conclusion === "success");
      done[name] = isReady
        ? await this.#runJob(job, { ...job.variables, ...rule.variables, ...pipeline }, event)
        : { ...untouched, conclusion: "skipped" };
    }
    return done;
  }

  async #runJob(
    { environment, before_script = [], script = [], artifacts }: JobConfiguration,
    declared: Readonly<Record<string, string | number>>,
    event: GitLabEvent,
  ): Promise<GitLabJob> {
    const names = Object.entries(declared);
    const expanded = Object.fromEntries(
      names.map(([name, value]) => [name, expand(value, declared as Variables)]),
    );
    const target = expand(environment?.name ?? "", expanded);
    const id = String(this.#jobs++);
    const isDeployment = environment?.action === undefined && target !== "";
    if (isDeployment && this.protectedEnvironments.has(target) && this.host.approvals.length === 0)
      return { ...untouched, conclusion: "waiting" };
    if (isDeployment)
      this.host.deployments.push({ id: this.#jobs, deployable: { id: Number(id) }, environment: target });
    const { workspace: cwd, env } = await this.shop.newMachine();
    await this.#checkOut(cwd, event, expanded);
    const secrets =
      event.runsIn === undefined ? { ...this.scopes[target], GITLAB_COMMENT_TOKEN: this.token } : {};
    const own = { CI_JOB_ID: id, CI_JOB_TOKEN: "a-job-token", CI_PROJECT_DIR: cwd };
    const lines = [...before_script, ...script].join("\n");
    const options = {
      cwd,
      env: { ...env, ...secrets, ...expanded, ...own },
      flags: ["--noprofile", "-eo", "pipefail"],
    };
    const { code, printed } = await this.shell.run(lines, options);
    const paths = (artifacts?.paths ?? []).filter((path) => existsSync(join(cwd, path)));
    return {
      conclusion: code === null ? "killed" : code === 0 ? "success" : "failure",
      printed,
      artifacts: Object.fromEntries(paths.map((path) => [path, readFileSync(join(cwd, path), "utf8")])),
    };
  }

  /** Checks out the commit of the pipeline, not a branch. */
  async #checkOut(
    cwd: string,
    { branch = "main" }: GitLabEvent,
    { GIT_DEPTH = "20" }: Variables,
  ): Promise<void> {
    const depth = GIT_DEPTH === "0" ? [] : ["--depth", GIT_DEPTH];
    const from = `file://${this.shop.origin}`;
    await execute("git", ["clone", "--quiet", ...depth, "--branch", branch, from, cwd]);
    await execute("git", ["checkout", "--quiet", "--detach"], { cwd });
  }

  #pipelineVariables(
    { source, branch = "main", fork, runsIn, variables }: GitLabEvent,
    sha: string,
  ): Variables {
    const mergeRequest = {
      CI_MERGE_REQUEST_IID: "7",
      CI_MERGE_REQUEST_PROJECT_ID: project,
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: fork ?? project,
    };
    return {
      CI_API_V4_URL: this.host.url,
      CI_COMMIT_SHA: sha,
      CI_DEFAULT_BRANCH: "main",
      CI_PIPELINE_SOURCE: source,
      CI_PROJECT_ID: runsIn ?? project,
      CI_SERVER_HOST: "gitlab.example.com",
      CI_SERVER_NAME: "GitLab",
      GITLAB_CI: "true",
      GITLAB_USER_LOGIN: "ada",
      ...(source === "merge_request_event" ? mergeRequest : { CI_COMMIT_BRANCH: branch }),
      ...variables,
    };
  }
}
