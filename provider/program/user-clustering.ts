import type * as pulumi from "@pulumi/pulumi";
import { clusteringJob, userClustering } from "../user-clustering";
import { jobOptions, Resource } from "./resource";

/** What to cluster. */
export type ClusterType = "user";

/** Parameters of a clustering. */
export interface ClusteringParameters {
  /** Minimum number of users in a cluster. Smaller clusters are dropped. Default: 1. */
  readonly minUserNum?: pulumi.Input<number>;
}

/** Arguments of a `UserClustering`. */
export interface UserClusteringArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the model whose users are clustered. */
  readonly modelId: pulumi.Input<string>;
  /** Name of the job. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** What to cluster. Default: user. */
  readonly clusterType?: pulumi.Input<ClusterType>;
  /** Clustering parameters. */
  readonly parameters: pulumi.Input<ClusteringParameters>;
  /** Id of an existing job whose result is adopted, instead of submitting a job. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A submitted clustering job. A `UserClustering` waits for it and outputs the result.
 *
 * In TypeScript, `UserClustering` declares this job for you. In other languages, `UserClusteringResult` declares both
 * resources.
 */
export class ClusteringJob extends Resource {
  /** Id of the job. Pass it to a `UserClustering` as `submittedJobId`. */
  declare readonly jobId: pulumi.Output<string>;

  constructor(
    name: string,
    args: Omit<UserClusteringArgs, "existingId">,
    options?: pulumi.CustomResourceOptions,
  ) {
    super(ClusteringJob.lifecycle, name, args, options);
    this.jobId = this.id;
  }

  /** @internal */
  static readonly lifecycle = clusteringJob;
}

/**
 * Clusters of a model's users.
 *
 * A `ClusteringJob` submits the clustering. Any change submits a new job. In TypeScript, `UserClustering` declares that
 * job for you, with the same name. In other languages, `UserClusteringResult` declares both. If you declare them
 * separately, pass the `jobId` of the `ClusteringJob` to the `UserClustering` as `submittedJobId`. To adopt a result,
 * set `existingId` instead.
 *
 * Deleting a `UserClustering` only removes it from the state. An expired download URL is not renewed. To run the job
 * again, change its `name`, or replace it: `pulumi up --replace '**ClusteringJob::NAME'`.
 */
export class UserClustering extends Resource {
  /** Id of the job. */
  declare readonly jobId: pulumi.Output<string>;
  /** Address to download the result from. It is secret, because the download needs no credentials. */
  declare readonly downloadUrl: pulumi.Output<string | undefined>;
  /** Time when the download URL expires, in seconds since 1970. */
  declare readonly expiredAtSec: pulumi.Output<number | undefined>;
  /** Message from the service about the result. */
  declare readonly message: pulumi.Output<string | undefined>;

  constructor(name: string, args: UserClusteringArgs, options?: pulumi.CustomResourceOptions) {
    const { existingId, ...jobArgs } = args;
    const submittedJobId =
      existingId === undefined
        ? new ClusteringJob(name, jobArgs, jobOptions(options, "UserClustering", "ClusteringJob")).jobId
        : undefined;
    super(UserClustering.lifecycle, name, { ...args, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = userClustering;
}
