import { forkReason, githubEvent } from "../review/fork";
import type { Comments } from "./comments";
import { githubComments } from "./github";
import { gitlabComments } from "./gitlab";

/** Options that name the pull request. */
export interface TargetOptions {
  readonly host?: "github" | "gitlab";
  readonly repository?: string;
  readonly pullRequest?: number;
}

/** The comments of a pull request, or the reason why there is nothing to comment on. */
export type Target = { readonly comments: Comments } | { readonly skipped: string };

/** Finds the pull request from options and the variables of GitHub Actions or GitLab CI. */
export function findTarget(options: TargetOptions, env: NodeJS.ProcessEnv = process.env): Target {
  const skipped = forkReason(env);
  if (skipped !== undefined) return { skipped };
  const host = options.host ?? hostOf(env);
  if (host === undefined)
    throw new Error(
      "This is not a pipeline of GitHub or GitLab. Set --host, --repository and --pull-request.",
    );
  return host === "github" ? githubTarget(options, env) : gitlabTarget(options, env);
}

function hostOf(env: NodeJS.ProcessEnv): TargetOptions["host"] {
  if (env.GITHUB_ACTIONS) return "github";
  return env.GITLAB_CI ? "gitlab" : undefined;
}

function githubTarget(options: TargetOptions, env: NodeJS.ProcessEnv): Target {
  const [, fromRef] = /^refs\/pull\/(\d+)\//.exec(env.GITHUB_REF ?? "") ?? [];
  const number = options.pullRequest ?? githubEvent(env).pull_request?.number ?? Number(fromRef ?? 0);
  if (number === 0) return noPullRequest(env.GITHUB_ACTIONS);
  const repository = required(options.repository ?? env.GITHUB_REPOSITORY, "--repository OWNER/NAME");
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new Error("--repository must be OWNER/NAME.");
  const token = required(env.GITHUB_TOKEN || env.GH_TOKEN, "GITHUB_TOKEN");
  const api = env.GITHUB_API_URL || "https://api.github.com";
  return { comments: githubComments({ api, repository, number, token }) };
}

function gitlabTarget(options: TargetOptions, env: NodeJS.ProcessEnv): Target {
  const number = options.pullRequest ?? Number(env.CI_MERGE_REQUEST_IID || 0);
  if (number === 0) return noPullRequest(env.GITLAB_CI);
  const project = required(
    options.repository ?? env.CI_MERGE_REQUEST_PROJECT_ID ?? env.CI_PROJECT_ID,
    "--repository GROUP/PROJECT",
  );
  const token = required(env.GITLAB_COMMENT_TOKEN || env.GITLAB_TOKEN, "GITLAB_COMMENT_TOKEN");
  const api = env.CI_API_V4_URL || "https://gitlab.com/api/v4";
  return { comments: gitlabComments({ api, project, number, token }) };
}

/** In a pipeline without a pull request, such as one for a push, there is nothing to do. */
function noPullRequest(isPipeline: string | undefined): Target {
  if (isPipeline) return { skipped: "This pipeline is not for a pull request, so there is no comment." };
  throw new Error("Set --pull-request to the number of the pull request.");
}

function required(value: string | undefined, name: string): string {
  if (value) return value;
  throw new Error(`Set ${name}.`);
}
