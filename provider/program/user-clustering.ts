import type * as pulumi from "@pulumi/pulumi";
import { clusteringJob, userClustering } from "../user-clustering";
import { Resource, siblingOptions } from "./resource";

/** What is grouped. */
export type ClusterType = "user";

/** How users are grouped. */
export interface ClusteringParameters {
  /** Groups with fewer users are dropped; 1 unless set. */
  readonly minUserNum?: pulumi.Input<number>;
}

/** What a grouping of users is declared with. */
export interface UserClusteringArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the model whose view of the users is grouped. */
  readonly modelId: pulumi.Input<string>;
  /** Name of the job; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** What is grouped; user unless set. */
  readonly clusterType?: pulumi.Input<ClusterType>;
  /** How users are grouped. */
  readonly parameters: pulumi.Input<ClusteringParameters>;
  /** Id of an existing job whose result to adopt instead of submitting one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A clustering that was submitted. Its `UserClustering` waits for it and holds the result.
 *
 * In TypeScript a `UserClustering` declares it itself, in other languages `UserClusteringResult` declares both.
 */
export class ClusteringJob extends Resource {
  /** The id of the job, for `submittedJobId` of a `UserClustering`. */
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
 * Groups of a model's users.
 *
 * A `ClusteringJob` submits the clustering, and any change of it asks again. In TypeScript a `UserClustering` declares
 * that job itself, under its own name. In other languages `UserClusteringResult` declares both; a `UserClustering` alone is
 * given the job as `submittedJobId`, or adopts with `existingId`.
 *
 * Deleting it only forgets it. An address that has expired is not renewed by itself. To ask the same once more, change
 * the `name` of the job, or replace it: `pulumi up --replace '**ClusteringJob::NAME'`.
 */
export class UserClustering extends Resource {
  /** The id of the job whose result it is. */
  declare readonly jobId: pulumi.Output<string>;
  /** Where the result can be fetched until it expires; secret, as it needs no further credentials. */
  declare readonly downloadUrl: pulumi.Output<string | undefined>;
  /** When the address stops working, in seconds since 1970. */
  declare readonly expiredAtSec: pulumi.Output<number | undefined>;
  /** What the service says of the result, if anything. */
  declare readonly message: pulumi.Output<string | undefined>;

  constructor(name: string, args: UserClusteringArgs, options?: pulumi.CustomResourceOptions) {
    const { existingId, ...asked } = args;
    const submittedJobId =
      existingId === undefined
        ? new ClusteringJob(name, asked, siblingOptions(options, "UserClustering", "ClusteringJob")).jobId
        : undefined;
    super(UserClustering.lifecycle, name, { ...args, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = userClustering;
}
