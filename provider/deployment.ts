import { isDeepStrictEqual } from "node:util";
import { deleteObject } from "../client/deletion";
import { meansAbsentOrNotServing, undefinedIfMissing } from "../client/error-meaning";
import { isUnreachable } from "../client/errors";
import { isOffered } from "../client/extensions";
import { currentServingUri, isServing, runCheck } from "../client/serving";
import { type Reply, routes } from "../contract";
import { truncate } from "../contract/messages";
import { requestOf, withPinned } from "./deployment-job";
import {
  addressesIn,
  checked,
  deploy,
  deploymentArgs,
  deploymentOutputs,
  faultOf,
  jobToWaitFor,
  type Outputs,
  rollBack,
  type State,
} from "./deployment-steps";
import { missingJobError } from "./jobs/jobs";
import { containsUnknown } from "./lifecycle/arguments";
import type { Declaration } from "./lifecycle/definition";
import { lifecycle } from "./lifecycle/lifecycle";
import { filterFault, rulesFault } from "./rules";
import type { Context } from "./run/context";
import { log } from "./run/engine";
import { pinnedIn, pinWarning } from "./run/pinned";
import { isSecret } from "./run/secrecy";
import { logicalName, partsOf, titleOf } from "./run/urn";

/** Live deployment of a project. A project has at most one. */
export const deployment = lifecycle({
  type: "Deployment",
  args: deploymentArgs,
  outputs: deploymentOutputs,
  replaceOn: ["projectId"],
  // The name is only the name of the job, so a new name does not cause a deployment.
  ignoreChanges: ["name"],

  async complete(given, { urn, run, config }) {
    const pinned = pinnedIn(config, logicalName(urn));
    if (pinned) {
      await run.warnOnce(urn, pinWarning(pinned, partsOf(urn).stack));
    }
    return withPinned(given, pinned);
  },

  async validate(args, declaration) {
    const { projectId, rules, check } = args;
    const fault =
      missingJobError("DeploymentJob", "DeployedModel", args) ?? otherDeployment(projectId, declaration);
    if (fault) return fault;
    // The job checks its rules itself.
    const ruleFault = isWithoutJob(args) && (await rulesFault(rules, projectId, declaration));
    return ruleFault || filterFault(check?.filterQuery, projectId, declaration);
  },

  // If the engine forces the replacement, the project stays the same and continues to serve.
  replacementWarning: ({ title, id, changes }) =>
    changes.length > 0 ? `${title} moves to another project: project ${id} stops serving.` : undefined,

  calls(args) {
    const { check, rules } = args;
    const uses = check?.filterQuery === undefined ? [] : ["filterQuery"];
    const tried = check ? [{ ...routes.recommendItemsToUser, uses }] : [];
    const deployed = [routes.getJob, ...tried];
    const ruled =
      rules !== undefined && isWithoutJob(args) ? [{ ...routes.submitDeploymentJob, uses: ["rules"] }] : [];
    return {
      create: deployed,
      adopt: [...tried, ...ruled],
      update: [...deployed, ...ruled],
      delete: [routes.shutdownDeployment],
    };
  },

  async create(args, context) {
    const { run, urn } = context;
    // With deleteBeforeReplace, the deletion may have shut down what the job deployed, perhaps in the other binding's
    // process. Treat the job like one of an earlier run: it is submitted again if nothing is live.
    if (run.shutDown.has(args.projectId) || run.inState.has(urn))
      run.submitted.delete(args.submittedJobId ?? "");
    const outputs = await deploy(
      args,
      args.submittedJobId ?? "",
      context,
      // If an earlier run submitted the job, its deployment may have been shut down since.
      async ({ jobResult }, earlier) =>
        !earlier || (await isServing(args.check?.userIds[0], jobResult?.servingUri, context)) !== false,
    );
    // If the check fails, there are no previous models to roll back to.
    return { id: args.projectId, ...(await checked(args, outputs, context)) };
  },

  async assertAdoptable(projectId, args, context) {
    const shown = `existingId ${truncate(projectId)}`;
    if (projectId !== args.projectId)
      throw new Error(
        `${shown}: expected ${truncate(args.projectId)}, because a deployment has the id of its project`,
      );
    const live = await liveAt(projectId, context);
    if (live === "not serving") throw new Error(`${shown}: nothing is deployed in this project`);
    const others = live ? liveDifferences(args, live) : [];
    if (others.length === 0) return;
    const actual = others.map(([key, value]) =>
      isSecret(key) ? `other ${key}` : `${key}: ${JSON.stringify(value)}`,
    );
    throw new Error(
      `${shown}: the live deployment differs from the declaration; declare ${actual.join(", ")}`,
    );
  },

  async adopt(projectId, args, context) {
    if (!(await isOffered(context.client, routes.getDeployment)))
      await log.warn(context.urn, "the API does not report the live models; assuming the declared ones");
    const fault = await runCheck(args, undefined, context);
    if (fault) throw new Error(`existingId ${truncate(projectId)}: ${fault.reason}`);
    return { servingUri: context.client.baseUrl };
  },

  /**
   * Compares the state with the live models, if the service reports them, and runs the check, if there is one. Reads
   * the addresses from the job.
   */
  async read(projectId, state, context) {
    const { client, urn } = context;
    const { deploymentJobId: jobId } = state;
    const live = await liveAt(projectId, context);
    if (live === "not serving") {
      await log.warn(urn, `project ${projectId} serves no recommendations: nothing is deployed`);
      return undefined;
    }
    const job = jobId
      ? await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }))
      : undefined;
    const addresses = { ...addressesIn(state), ...addressesIn(job?.jobResult) };
    const { servingUri } = addresses;
    const fault = await runCheck(state, servingUri, context, true).catch(failUnknown);
    // `up` has already reported this failed check and repeats it.
    const isKnown = state.checkFailed && (fault?.kind === "few" || fault?.kind === "foreign");
    const isForeign = fault?.kind === "foreign";
    const finding = isForeign
      ? "may serve recommendations, but a gateway answered its check"
      : "serves no recommendations";
    if (fault && !isKnown) await log.warn(urn, `project ${projectId} ${finding}: ${fault.reason}`);
    // If something other than the service responds, the deployment may still exist.
    const checkFailed = isForeign && { checkFailed: true as const };
    if (fault && !isKnown && !checkFailed) return undefined;
    if (state.checkFailed) await log.warn(urn, "its check failed; `pulumi up` repeats it");
    return { ...state, ...addresses, ...checkFailed, ...(live && replacedBy(live, state)) };
  },

  async unsettled({ checkFailed, __rollbackOf }) {
    if (!checkFailed && __rollbackOf === undefined) return undefined;
    return { ...(checkFailed && { checkFailed }), ...(__rollbackOf && { __rollbackOf }) };
  },

  async update(_projectId, olds, news, context) {
    const submitted = news.submittedJobId ?? "";
    const { __rollbackOf: failedJobId, rolledBackJobId = "" } = olds;
    // A rollback was submitted without a response. The previous models may be live already, so find out its outcome
    // first.
    if (failedJobId !== undefined) {
      const fault = `the check of job ${failedJobId} failed`;
      return rollBack(olds, { failedJobId, rolledBackJobId, fault }, context);
    }
    // A new name does not cause a deployment.
    const { name } = news;
    const same =
      isDeepStrictEqual(requestOf({ ...olds, name }), requestOf(news)) &&
      olds.submittedJobId === news.submittedJobId;
    const { deploymentJobId } = olds;
    // Only `name`, `check` or `rollback` can have changed, so there is nothing to deploy.
    if (same && olds.rolledBackJobId === undefined) {
      const kept = { ...addressesIn(olds), ...(deploymentJobId && { deploymentJobId }) };
      return olds.checkFailed ? checked(news, kept, context) : kept;
    }
    const outputs = await deploy(news, await jobToWaitFor(olds, news, context), context);
    if (!news.rollback && !context.settings.rollback) return checked(news, outputs, context);
    // If the check cannot be completed, the state keeps the previous models. The next run repeats the check and can
    // still roll back.
    const fault = await faultOf(news, outputs, context, (reason) => new Error(reason));
    if (!fault) return outputs;
    const failed = { failedJobId: outputs.deploymentJobId ?? "", rolledBackJobId: submitted, fault };
    return rollBack(olds, failed, context, { ...news, ...outputs });
  },

  async delete(projectId, state, context) {
    const { client, run } = context;
    await deleteObject({
      send: (options) => client.call(routes.shutdownDeployment, { projectId }, options),
      isGone: async () => {
        const servingUri = await currentServingUri(client, state);
        return (await isServing(state.check?.userIds[0], servingUri, context)) === false;
      },
      meansGone: meansAbsentOrNotServing,
    });
    run.shutDown.add(projectId);
  },
});

/** Whether the deployment is adopted, so it submits the jobs of later changes itself. */
function isWithoutJob({ submittedJobId }: Pick<State, "submittedJobId">): boolean {
  return submittedJobId === undefined;
}

/** Returns an error if another resource deploys to the same project. */
function otherDeployment(projectId: unknown, { run, urn }: Declaration): string | undefined {
  if (typeof projectId !== "string" || containsUnknown(projectId)) return undefined;
  const { deployers, inState } = run;
  const other = deployers.get(projectId) ?? urn;
  deployers.set(projectId, other);
  if (other === urn) return undefined;
  const [one, two] = [other, urn].map((each) => titleOf(partsOf(each)));
  // The error names the added resource, because the engine may check it first and report the error for the existing
  // one.
  const added = inState.has(urn) === inState.has(other) ? "one of the two" : inState.has(urn) ? one : two;
  return `project ${projectId} can have only one Deployment, and ${one} and ${two} are declared: remove ${added}`;
}

type Live = Reply<typeof routes.getDeployment>;

/** Reads the live deployment of a project. Undefined if the service does not report it. */
async function liveAt(projectId: string, { client }: Context): Promise<Live | "not serving" | undefined> {
  if (!(await isOffered(client, routes.getDeployment))) return undefined;
  const read = client.call(routes.getDeployment, { projectId });
  return (await undefinedIfMissing(read, undefined, meansAbsentOrNotServing)) ?? "not serving";
}

/** Returns the arguments whose values in the live deployment differ, with those values. */
function liveDifferences(
  {
    generatorModelId,
    rankerModelId,
    qps,
    rules,
  }: Pick<State, "generatorModelId" | "rankerModelId" | "qps" | "rules">,
  live: Live,
): [string, unknown][] {
  const known = { generatorModelId, rankerModelId: rankerModelId ?? null, qps, rules: rules ?? null };
  const actual = {
    generatorModelId: live.generatorModelId,
    rankerModelId: live.rankerModelId ?? null,
    qps: live.qps ?? qps,
    // A service that does not support rules does not report any.
    rules: live.rules === undefined ? known.rules : live.rules,
  };
  return Object.entries(actual).filter(
    ([key, value]) => !isDeepStrictEqual(value, known[key as keyof typeof known]),
  );
}

/**
 * Returns the changes to the state if another job has deployed different models. The submitted job then counts as
 * rolled back, so the next update deploys the declared models with a new job.
 */
function replacedBy(live: Live, state: State & Outputs): Partial<State & Outputs> {
  const others = liveDifferences(state, live);
  if (others.length === 0) return {};
  const values = Object.fromEntries(others.map(([key, value]) => [key, value ?? undefined]));
  const { submittedJobId: rolledBackJobId } = state;
  return { ...values, deploymentJobId: live.jobId, ...(rolledBackJobId && { rolledBackJobId }) };
}

/** Makes a refresh fail if its check could not be completed, because it is unknown whether the project serves. */
function failUnknown(error: Error): never {
  if (isUnreachable(error)) throw error;
  throw new Error(`cannot tell whether the project has a live deployment: ${error.message}`, {
    cause: error,
  });
}
