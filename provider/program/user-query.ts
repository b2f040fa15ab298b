import type * as pulumi from "@pulumi/pulumi";
import { queryingJob, userQuery } from "../user-query";
import { jobOptions, Resource } from "./resource";

/** Limits for how much a user uses one value of an item attribute. */
export interface UsageCondition {
  /** Item attribute. */
  readonly attribute: pulumi.Input<string>;
  /** Value of the item attribute. */
  readonly value: pulumi.Input<string | number | boolean>;
  /** Minimum usage, inclusive. Default: no minimum. */
  readonly lowerBound?: pulumi.Input<number>;
  /** Maximum usage, inclusive. Default: no maximum. */
  readonly upperBound?: pulumi.Input<number>;
}

/** Query for the users who meet all conditions. */
export interface UserListQuery {
  /** Conditions. A user must meet all of them. */
  readonly conditions: pulumi.Input<pulumi.Input<UsageCondition>[]>;
}

/** Query for how the usage of one attribute value is distributed over the users. */
export interface UserDistributionQuery {
  /** Item attribute. */
  readonly attribute: pulumi.Input<string>;
  /** Value of the item attribute. */
  readonly value: pulumi.Input<string | number | boolean>;
  /** Number of histogram bins. Default: 20. */
  readonly bins?: pulumi.Input<number>;
}

/** A query: `conditions` for a `user_list`, `attribute`, `value` and `bins` for a `user_distribution`. */
export type Query = UserListQuery | UserDistributionQuery;

/** Type of the queries: a list of users or a distribution. */
export type QueryType = "user_list" | "user_distribution";

/** Arguments of a `UserQuery`. */
export interface UserQueryArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the model to query. */
  readonly modelId: pulumi.Input<string>;
  /** Name of the job. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** Type of the queries: a list of users or a distribution. */
  readonly queryType: pulumi.Input<QueryType>;
  /** The queries. All have the type `queryType`. */
  readonly queries: pulumi.Input<pulumi.Input<Query>[]>;
  /** Id of an existing job whose result is adopted, instead of submitting a job. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A submitted querying job. A `UserQuery` waits for it and outputs the result.
 *
 * In TypeScript, `UserQuery` declares this job for you. In other languages, `UserQueryResult` declares both resources.
 */
export class QueryingJob extends Resource {
  /** Id of the job. Pass it to a `UserQuery` as `submittedJobId`. */
  declare readonly jobId: pulumi.Output<string>;

  constructor(name: string, args: Omit<UserQueryArgs, "existingId">, options?: pulumi.CustomResourceOptions) {
    super(QueryingJob.lifecycle, name, args, options);
    this.jobId = this.id;
  }

  /** @internal */
  static readonly lifecycle = queryingJob;
}

/**
 * Queries about how much a model's users use item attribute values.
 *
 * A `user_list` query has `conditions`. A user must meet all of them. Each condition has an `attribute`, a `value`
 * (text, number or boolean), and optionally a `lowerBound` and an `upperBound` for the usage, both inclusive. With the
 * embedded service, usage is a share from 0 to 1. A `user_distribution` query has `attribute`, `value` and `bins`
 * (default: 20).
 *
 * A `QueryingJob` submits the queries. Any change submits a new job. In TypeScript, `UserQuery` declares that job for
 * you, with the same name. In other languages, `UserQueryResult` declares both. If you declare them separately, pass
 * the `jobId` of the `QueryingJob` to the `UserQuery` as `submittedJobId`. To adopt a result, set `existingId` instead.
 *
 * Deleting a `UserQuery` only removes it from the state. An expired download URL is not renewed. To run the job again,
 * change its `name`, or replace it: `pulumi up --replace '**QueryingJob::NAME'`.
 */
export class UserQuery extends Resource {
  /** Id of the job. */
  declare readonly jobId: pulumi.Output<string>;
  /** Address to download the result from. It is secret, because the download needs no credentials. */
  declare readonly downloadUrl: pulumi.Output<string | undefined>;
  /** Time when the download URL expires, in seconds since 1970. */
  declare readonly expiredAtSec: pulumi.Output<number | undefined>;
  /** Message from the service about the result. */
  declare readonly message: pulumi.Output<string | undefined>;

  constructor(name: string, args: UserQueryArgs, options?: pulumi.CustomResourceOptions) {
    const { existingId, ...jobArgs } = args;
    const submittedJobId =
      existingId === undefined
        ? new QueryingJob(name, jobArgs, jobOptions(options, "UserQuery", "QueryingJob")).jobId
        : undefined;
    super(UserQuery.lifecycle, name, { ...args, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = userQuery;
}
