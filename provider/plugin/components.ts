/** Component for other languages that declares a job and its result, as the classes of this package do in TypeScript. */
export interface Component {
  readonly type: string;
  /** Resource type that submits the job. */
  readonly job: string;
  /** Resource type that waits for the job and has its result. */
  readonly result: string;
  readonly description: string;
}

/** All components of the plugin. */
export const components: readonly Component[] = [
  {
    type: "TrainedModel",
    job: "TrainingJob",
    result: "Model",
    description:
      "A model and the job that trains it: a `TrainingJob` and a `Model` in one declaration. See these two resources for " +
      "details. In TypeScript, use `Model`.",
  },
  {
    type: "DeployedModel",
    job: "DeploymentJob",
    result: "Deployment",
    description:
      "A deployment and its job: a `DeploymentJob` and a `Deployment` in one declaration. See these two resources for " +
      "details. In TypeScript, use `Deployment`.",
  },
  {
    type: "UserQueryResult",
    job: "QueryingJob",
    result: "UserQuery",
    description:
      "A query about users and its result: a `QueryingJob` and a `UserQuery` in one declaration. See these two resources " +
      "for details. In TypeScript, use `UserQuery`.",
  },
  {
    type: "UserClusteringResult",
    job: "ClusteringJob",
    result: "UserClustering",
    description:
      "A clustering of users and its result: a `ClusteringJob` and a `UserClustering` in one declaration. See these two " +
      "resources for details. In TypeScript, use `UserClustering`.",
  },
];
