import { git } from "./program";

/** Variables in which pipelines name the person who started them. */
const pipelineVariables = [
  "GITHUB_ACTOR",
  "GITLAB_USER_LOGIN",
  "BUILDKITE_BUILD_CREATOR",
  "CIRCLE_USERNAME",
  "BUILD_REQUESTEDFOR",
];

/** Returns who runs a command: the person who started the pipeline, or Git's `user.name`. */
export async function readAuthor(cwd: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const pipeline = pipelineVariables.map((name) => environment[name]?.trim()).find(Boolean);
  return pipeline ?? (await gitOutput(cwd, "config", "user.name"));
}

/** Returns the author of a commit, if the repository contains the commit. */
export async function authorOf(cwd: string, commit: string): Promise<string | undefined> {
  return gitOutput(cwd, "log", "-1", "--format=%an", "--end-of-options", commit, "--");
}

async function gitOutput(cwd: string, ...args: string[]): Promise<string | undefined> {
  return (await git(cwd, ...args).catch(() => "")).trim() || undefined;
}
