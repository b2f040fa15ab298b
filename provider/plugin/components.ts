/** Component for languages other than TypeScript. Declares a job and its result, as the TypeScript classes do. */
export interface Component {
  readonly type: string;
  /** Resource type that submits the job. */
  readonly job: string;
  /** Resource type that waits for the job and outputs its result. */
  readonly result: string;
  readonly description: string;
}

/** All components of the plugin. */
export const components: readonly Component[] = [
  component("TrainedModel", "TrainingJob", "Model", "A model and the job that trains it"),
  component("DeployedModel", "DeploymentJob", "Deployment", "A deployment and its job"),
  component("UserQueryResult", "QueryingJob", "UserQuery", "A query about users and its result"),
  component(
    "UserClusteringResult",
    "ClusteringJob",
    "UserClustering",
    "A clustering of users and its result",
  ),
  component(
    "UserRecommendationsResult",
    "RecommendationJob",
    "UserRecommendations",
    "Recommendations for many users and their result",
  ),
];

function component(type: string, job: string, result: string, contents: string): Component {
  const description =
    `${contents}: a \`${job}\` and a \`${result}\` in one declaration. See these two resources for details. ` +
    `In TypeScript, use \`${result}\`.`;
  return { type, job, result, description };
}
