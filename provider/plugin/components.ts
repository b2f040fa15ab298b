/** Two resources that other languages declare in one line, as the classes of this package do in TypeScript. */
export interface Component {
  readonly type: string;
  /** The resource that submits the job. */
  readonly job: string;
  /** The resource that waits for the job and holds its result. */
  readonly result: string;
  readonly description: string;
}

/** Every component of the plugin. */
export const components: readonly Component[] = [
  {
    type: "TrainedModel",
    job: "TrainingJob",
    result: "Model",
    description:
      "A model with the job that trains it: a `TrainingJob` and a `Model` in one declaration. What holds for them is said " +
      "there. In TypeScript `Model` declares both.",
  },
  {
    type: "DeployedModel",
    job: "DeploymentJob",
    result: "Deployment",
    description:
      "A deployment with the job that makes it: a `DeploymentJob` and a `Deployment` in one declaration. What holds for " +
      "them is said there. In TypeScript `Deployment` declares both.",
  },
  {
    type: "UserQueryResult",
    job: "QueryingJob",
    result: "UserQuery",
    description:
      "A query about users with its result: a `QueryingJob` and a `UserQuery` in one declaration. What holds for them is " +
      "said there. In TypeScript `UserQuery` declares both.",
  },
  {
    type: "UserClusteringResult",
    job: "ClusteringJob",
    result: "UserClustering",
    description:
      "A grouping of users with its result: a `ClusteringJob` and a `UserClustering` in one declaration. What holds for " +
      "them is said there. In TypeScript `UserClustering` declares both.",
  },
];
