import { parseJson } from "../../client/parse";
import { readIfPossible } from "../../client/state-directory";

/** The event that started a workflow of GitHub Actions. Contains only the fields that are used here. */
export interface GitHubEvent {
  readonly pull_request?: {
    readonly number?: number;
    readonly head?: { readonly repo?: { readonly full_name?: string } | null };
    readonly base?: { readonly repo?: { readonly full_name?: string } };
  };
}

/** Reads the event that started a workflow of GitHub Actions. */
export function githubEvent(env: NodeJS.ProcessEnv = process.env): GitHubEvent {
  const text = env.GITHUB_EVENT_PATH ? readIfPossible(env.GITHUB_EVENT_PATH) : undefined;
  return (parseJson(text ?? "") as GitHubEvent | undefined) ?? {};
}

/**
 * Returns why a review is skipped: the pull request comes from a fork. Its program is not run, because it could read
 * the secrets of the pipeline. Usually forks get no secrets, and the review would fail.
 */
export function forkReason(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const skipped = "comes from a fork, which gets no secrets, so the review is skipped.";
  const { pull_request: pull } = githubEvent(env);
  // A deleted fork has no repository.
  if (pull && (pull.head?.repo?.full_name ?? "") !== (pull.base?.repo?.full_name ?? env.GITHUB_REPOSITORY))
    return `The pull request ${skipped}`;
  if (pull && env.GITHUB_ACTOR === "dependabot[bot]" && !hasStackCredentials(env))
    return "The pull request comes from Dependabot, which gets no secrets, so the review is skipped.";
  const { CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source, CI_MERGE_REQUEST_PROJECT_ID: target } = env;
  return source && target && source !== target ? `The merge request ${skipped}` : undefined;
}

/** Whether a pipeline can open a stack. A repository can give Dependabot separate secrets. */
function hasStackCredentials(env: NodeJS.ProcessEnv): boolean {
  const { PULUMI_ACCESS_TOKEN, PULUMI_CONFIG_PASSPHRASE, PULUMI_CONFIG_PASSPHRASE_FILE, PULUMI_BACKEND_URL } =
    env;
  return Boolean(
    PULUMI_ACCESS_TOKEN || PULUMI_CONFIG_PASSPHRASE || PULUMI_CONFIG_PASSPHRASE_FILE || PULUMI_BACKEND_URL,
  );
}
