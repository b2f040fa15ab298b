import { isEnabled } from "./parse";

/** Environment variables that CI services set on their runners. */
const ciVariables = ["CI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"];

/** Whether a process runs on a CI runner, whose disk is deleted after the job. */
export function isCiRunner(environment: NodeJS.ProcessEnv): boolean {
  return ciVariables.some((name) => isEnabled(environment[name]));
}

/** Error message for a CI runner without a configured address. */
export const noAddressOnCi =
  "recommender:baseUrl is not set, and this is a CI runner. An embedded service would end with the runner, and its data " +
  "would be lost. Set the address of your service with `pulumi config set recommender:baseUrl https://…` or " +
  "RECOMMENDER_BASE_URL. To use an embedded service anyway, run " +
  "`pulumi config set recommender:baseUrl embedded:.recommender`.";
