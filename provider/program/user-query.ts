import type * as pulumi from "@pulumi/pulumi";
import { queryingJob, userQuery } from "../user-query";
import { Resource, siblingOptions } from "./resource";

/** A bound on a user's usage of one value of one item attribute. */
export interface UsageCondition {
  /** Item attribute. */
  readonly attribute: pulumi.Input<string>;
  /** Value of the item attribute. */
  readonly value: pulumi.Input<string | number | boolean>;
  /** Least usage, included; none unless set. */
  readonly lowerBound?: pulumi.Input<number>;
  /** Greatest usage, included; none unless set. */
  readonly upperBound?: pulumi.Input<number>;
}

/** Asks for the users who meet all conditions. */
export interface UserListQuery {
  /** Conditions, all of which a user must meet. */
  readonly conditions: pulumi.Input<pulumi.Input<UsageCondition>[]>;
}

/** Asks how usage of one value is spread over the users. */
export interface UserDistributionQuery {
  /** Item attribute. */
  readonly attribute: pulumi.Input<string>;
  /** Value of the item attribute. */
  readonly value: pulumi.Input<string | number | boolean>;
  /** Number of histogram bins; 20 unless set. */
  readonly bins?: pulumi.Input<number>;
}

/** A query: `conditions` for a `user_list`, `attribute`, `value` and `bins` for a `user_distribution`. */
export type Query = UserListQuery | UserDistributionQuery;

/** Whether users are listed or their distribution is drawn. */
export type QueryType = "user_list" | "user_distribution";

/** What is asked of a model about its users. */
export interface UserQueryArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the model that is asked. */
  readonly modelId: pulumi.Input<string>;
  /** Name of the job; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Whether users are listed or their distribution is drawn. */
  readonly queryType: pulumi.Input<QueryType>;
  /** The queries, each of the kind that queryType says. */
  readonly queries: pulumi.Input<pulumi.Input<Query>[]>;
  /** Id of an existing job whose result to adopt instead of submitting one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A querying that was submitted. Its `UserQuery` waits for it and holds the result.
 *
 * In TypeScript a `UserQuery` declares it itself, in other languages `UserQueryResult` declares both.
 */
export class QueryingJob extends Resource {
  /** The id of the job, for `submittedJobId` of a `UserQuery`. */
  declare readonly jobId: pulumi.Output<string>;

  constructor(name: string, args: Omit<UserQueryArgs, "existingId">, options?: pulumi.CustomResourceOptions) {
    super(QueryingJob.lifecycle, name, args, options);
    this.jobId = this.id;
  }

  /** @internal */
  static readonly lifecycle = queryingJob;
}

/**
 * What a model knows about its users' usage of item attribute values.
 *
 * A query of a `user_list` has `conditions`, all of which a user must meet: each with `attribute`, `value` (text, number
 * or boolean), and `lowerBound` and `upperBound` of the usage, both included, each optional: a share from 0 to 1 with the
 * embedded service. A query of a `user_distribution` has `attribute`, `value` and `bins` (20 unless set).
 *
 * A `QueryingJob` submits the queries, and any change of them asks again. In TypeScript a `UserQuery` declares that job
 * itself, under its own name. In other languages `UserQueryResult` declares both; a `UserQuery` alone is given the job as
 * `submittedJobId`, or adopts with `existingId`.
 *
 * Deleting it only forgets it. An address that has expired is not renewed by itself. To ask the same once more, change
 * the `name` of the job, or replace it: `pulumi up --replace '**QueryingJob::NAME'`.
 */
export class UserQuery extends Resource {
  /** The id of the job whose result it is. */
  declare readonly jobId: pulumi.Output<string>;
  /** Where the result can be fetched until it expires; secret, as it needs no further credentials. */
  declare readonly downloadUrl: pulumi.Output<string | undefined>;
  /** When the address stops working, in seconds since 1970. */
  declare readonly expiredAtSec: pulumi.Output<number | undefined>;
  /** What the service says of the result, if anything. */
  declare readonly message: pulumi.Output<string | undefined>;

  constructor(name: string, args: UserQueryArgs, options?: pulumi.CustomResourceOptions) {
    const { existingId, ...asked } = args;
    const submittedJobId =
      existingId === undefined
        ? new QueryingJob(name, asked, siblingOptions(options, "UserQuery", "QueryingJob")).jobId
        : undefined;
    super(UserQuery.lifecycle, name, { ...args, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = userQuery;
}
