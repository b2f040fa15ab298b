import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { routes, tolerant } from "../contract";
import { id, json, label, ours } from "../contract/field";
import { Resource, siblingOptions } from "./dynamic/resource";
import { jobKinds } from "./jobs/jobs";
import { finishedJob, type ResultKind, submittedJob } from "./jobs/result-job";
import { picked } from "./lifecycle/arguments";
import { lifecycle } from "./lifecycle/lifecycle";

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

/** What is asked of a model about its users. */
export interface UserQueryArgs {
  /** Id of the project. */
  readonly projectId: pulumi.Input<string>;
  /** Id of the model that is asked. */
  readonly modelId: pulumi.Input<string>;
  /** Name of the job; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Whether users are listed or their distribution is drawn. */
  readonly queryType: pulumi.Input<"user_list" | "user_distribution">;
  /** The queries, each of the kind that queryType says. */
  readonly queries: pulumi.Input<pulumi.Input<UserListQuery | UserDistributionQuery>[]>;
  /** Id of an existing job whose result to adopt instead of submitting one. */
  readonly existingId?: pulumi.Input<string>;
}

const queryingFields = z.strictObject({
  projectId: id,
  modelId: id,
  name: label,
  queryType: z.enum(["user_list", "user_distribution"], { error: "expected user_list or user_distribution" }),
  queries: z.array(json).min(1),
});

/** A querying that was submitted; every `UserQuery` has one beside it. */
export class QueryingJob extends Resource {
  declare readonly jobId: pulumi.Output<string>;

  constructor(name: string, args: Omit<UserQueryArgs, "existingId">, options?: pulumi.CustomResourceOptions) {
    super(QueryingJob.lifecycle, name, args, options);
    this.jobId = this.id;
  }

  /** @internal */
  static readonly lifecycle = lifecycle(submittedJob("QueryingJob", querying()));
}

/** What a model knows about its users' usage of item attribute values. */
export class UserQuery extends Resource {
  declare readonly jobId: pulumi.Output<string>;
  /** Where the result can be fetched until it expires; secret, as it needs no further credentials. */
  declare readonly downloadUrl: pulumi.Output<string | undefined>;
  /** When the address stops working, in seconds since 1970. */
  declare readonly expiredAtSec: pulumi.Output<number | undefined>;
  declare readonly message: pulumi.Output<string | undefined>;

  constructor(name: string, args: UserQueryArgs, options?: pulumi.CustomResourceOptions) {
    const { existingId, ...asked } = args;
    const beside = siblingOptions(options, "UserQuery", "QueryingJob");
    const submittedJobId = existingId === undefined ? new QueryingJob(name, asked, beside).jobId : undefined;
    super(UserQuery.lifecycle, name, { ...args, submittedJobId }, options);
  }

  /** @internal */
  static readonly lifecycle = lifecycle(finishedJob("UserQuery", querying()));
}

function querying(): ResultKind {
  const route = routes.submitQueryingJob;
  // What a query may hold depends on its type; the contract says how.
  const checkedBy = (contract: z.ZodType, more: z.ZodRawShape) =>
    queryingFields.extend(more).superRefine((args, context) => {
      const { error } = contract.safeParse(picked(queryingFields, args));
      for (const issue of error?.issues ?? []) context.addIssue({ ...issue } as z.core.$ZodRawIssue as never);
    });
  return {
    kind: jobKinds.querying,
    route,
    fields: queryingFields,
    args: (more) => ours(checkedBy(route.request, more), checkedBy(tolerant(route.request), more)),
  };
}
