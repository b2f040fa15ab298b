import type * as pulumi from "@pulumi/pulumi";
import { recommendationJob, userRecommendations } from "../user-recommendations";
import { jobOptions, Resource } from "./resource";
import type { UserListQuery } from "./user-query";

/** Format of a file with recommendations. */
export type RecommendationFormat = "ndjson" | "parquet";

/** Arguments of a `UserRecommendations`. */
export interface UserRecommendationsArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /**
   * Id of the model to recommend with, without a ranker and without rules. Default: the models and the rules that are
   * deployed when the job is submitted.
   */
  readonly modelId?: pulumi.Input<string>;
  /** Name of the job. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** Recommends only to these users, up to 10,000. Default: to all users. */
  readonly userIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Recommends only to the users who meet all conditions. Default: to all users. */
  readonly query?: pulumi.Input<UserListQuery>;
  /** Maximum number of items per user. Default: 10. */
  readonly limit?: pulumi.Input<number>;
  /** Item attributes in the file. Default: none. */
  readonly attributes?: pulumi.Input<pulumi.Input<string>[]>;
  /** Recommends only items for which this expression in CEL is true. It reads attributes of `item` and of `user`. */
  readonly filterQuery?: pulumi.Input<string>;
  /** Never recommends these items. */
  readonly excludeItemIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Recommends only some of these items. */
  readonly includeItemIds?: pulumi.Input<pulumi.Input<string>[]>;
  /** Format of the file. Default: ndjson. */
  readonly format?: pulumi.Input<RecommendationFormat>;
  /** Id of an existing job whose result is adopted, instead of submitting a job. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A submitted recommendation job. A `UserRecommendations` waits for it and outputs the result.
 *
 * In TypeScript, `UserRecommendations` declares this job for you. In other languages, `UserRecommendationsResult`
 * declares both resources.
 */
export class RecommendationJob extends Resource {
  /** Id of the job. Pass it to a `UserRecommendations` as `submittedJobId`. */
  declare readonly jobId: pulumi.Output<string>;

  constructor(
    name: string,
    args: Omit<UserRecommendationsArgs, "existingId">,
    options?: pulumi.CustomResourceOptions,
  ) {
    super(RecommendationJob.lifecycle, name, args, options);
    this.jobId = this.id;
  }

  /** @internal */
  static readonly lifecycle = recommendationJob;
}

/**
 * Recommendations for all users, or for some of them, in a file to download.
 *
 * The service must support `/submit-recommendation-job`, which is not part of the specification. If it does not, the
 * preview fails. With `ndjson`, the file has a line per user, as a recommendation call returns it. With `parquet`, it
 * has a row per user and recommended item. Users who have been forgotten are left out.
 *
 * A `RecommendationJob` submits the job. Any change of the arguments submits a new job, but a new deployment does not.
 * Use `dependsOn` to recommend with a `Deployment` of the same program. In TypeScript, `UserRecommendations` declares
 * that job for you, with the same name. In other languages, `UserRecommendationsResult` declares both. If you declare
 * them separately, pass the `jobId` of the `RecommendationJob` to the `UserRecommendations` as `submittedJobId`. To
 * adopt a result, set `existingId` instead.
 *
 * Deleting a `UserRecommendations` only removes it from the state. An expired download URL is not renewed. To run the
 * job again, change its `name`, or replace it: `pulumi up --replace '**RecommendationJob::NAME'`.
 */
export class UserRecommendations extends Resource {
  /** Id of the job. */
  declare readonly jobId: pulumi.Output<string>;
  /** Address to download the result from. It is secret, because the download needs no credentials. */
  declare readonly downloadUrl: pulumi.Output<string | undefined>;
  /** Time when the download URL expires, in seconds since 1970. */
  declare readonly expiredAtSec: pulumi.Output<number | undefined>;
  /** Message from the service about the result. */
  declare readonly message: pulumi.Output<string | undefined>;

  constructor(name: string, args: UserRecommendationsArgs, options?: pulumi.CustomResourceOptions) {
    const { existingId, ...jobArgs } = args;
    const submittedJobId =
      existingId === undefined
        ? new RecommendationJob(
            name,
            jobArgs,
            jobOptions(options, "UserRecommendations", "RecommendationJob"),
          ).jobId
        : undefined;
    super(UserRecommendations.lifecycle, name, { ...args, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = userRecommendations;
}
