import { isEnabled } from "./parse";

/** Variables that CI services set on their runners. */
const ciVariables = ["CI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"];

/** Whether a process runs on a CI runner, which is thrown away with everything on it. */
export function isCiRunner(environment: NodeJS.ProcessEnv): boolean {
  return ciVariables.some((name) => isEnabled(environment[name]));
}

/** The error if a stack names no address on a CI runner. */
export const noAddressOnCi =
  "recommender:baseUrl is not set, and this is a CI runner: a service that starts here ends with the runner, and its " +
  "data is lost. Name your service with `pulumi config set recommender:baseUrl https://…` or RECOMMENDER_BASE_URL; or " +
  "ask for a service on the runner with `pulumi config set recommender:baseUrl embedded:.recommender`.";
