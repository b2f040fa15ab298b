import { z } from "zod";
import { routes, tolerant, userDistributionQuery, userListQuery } from "../contract";
import { id, json, label, withTolerant } from "../contract/field";
import { issueText } from "../contract/messages";
import { jobKinds } from "./jobs/jobs";
import { finishedJob, type ResultKind, submittedJob } from "./jobs/result-job";
import { fieldsOf } from "./lifecycle/arguments";

const { bins, ...distribution } = userDistributionQuery.shape;

/** Combines both types of queries in one type, because not every SDK language has union types. */
const query = z.object({ ...userListQuery.shape, ...distribution, bins: bins.unwrap() }).partial();

const queryingFields = z.strictObject({
  projectId: id,
  modelId: id,
  name: label,
  queryType: z.enum(["user_list", "user_distribution"], { error: "expected user_list or user_distribution" }),
  queries: z.array(json.meta({ override: query })).min(1),
});

const { request } = routes.submitQueryingJob;

/** Validates queries with the contract, because their fields depend on the query type. */
const checkedBy = (contract: typeof request, more: z.ZodRawShape) =>
  queryingFields.extend(more).superRefine((args, context) => {
    const { error } = contract.safeParse(fieldsOf(queryingFields, args));
    const schema = contract.options.find(({ shape }) => shape.queryType.value === args.queryType);
    for (const issue of error?.issues ?? [])
      context.addIssue({ code: "custom", path: issue.path, message: issueText(issue, schema) });
  });

const querying: ResultKind = {
  kind: jobKinds.querying,
  route: routes.submitQueryingJob,
  fields: queryingFields,
  args: (more) => withTolerant(checkedBy(request, more), checkedBy(tolerant(request), more)),
};

/** Job that queries a model about its users. */
export const queryingJob = submittedJob("QueryingJob", querying);

/** Result of a querying job. */
export const userQuery = finishedJob("UserQuery", "QueryingJob", querying);
