import ms from "ms";
import { z } from "zod";
import { ApiError } from "../client/client";
import { deleteObject } from "../client/deletion";
import { isMissingNextTo, meansInUse, undefinedIfMissing } from "../client/error-meaning";
import { quality, type Reply, routes } from "../contract";
import { id, jsonMap, label } from "../contract/field";
import { truncate } from "../contract/messages";
import { finishJob, jobKinds, missingJobError, submitJob } from "./jobs/jobs";
import { fieldsOf, knownFields } from "./lifecycle/arguments";
import { applyDeclared } from "./lifecycle/change";
import { lifecycle } from "./lifecycle/lifecycle";
import { confirmedState } from "./lifecycle/observation";
import { assertQuality, knownFigures, type Quality, qualityText } from "./model-quality";
import type { Context } from "./run/context";
import { log } from "./run/engine";
import { partsOf, titleOf } from "./run/urn";
import { adoptTraining, lostJobOf, modelOfLostJob } from "./training-job";

/** Warning about `deleteBeforeReplace`, which would fail because the service cannot delete a live model. */
export const deletedAfterReplacement =
  "deleteBeforeReplace does not apply to models: the old model is deleted after the new one is live";

const modelArgs = z.strictObject({
  projectId: id,
  algorithmId: id.optional(),
  name: label,
  submittedJobId: id.optional().describe("Id of the training job: `jobId` of a `TrainingJob`."),
  existingId: id.optional(),
});

type ModelArgs = z.output<typeof modelArgs>;

const modelOutputs = z.object({
  modelId: id,
  trainingJobId: id.optional(),
  algorithmType: z.string().optional(),
  algorithmParameters: jsonMap.optional(),
  quality: (quality as z.ZodType as z.ZodType<Quality>).optional(),
  __trainedMs: z.number().optional(),
  __createdTs: z.number().optional(),
});

type Found = Reply<typeof routes.getModel>;

/** Model that a training job creates. */
export const model = lifecycle({
  type: "Model",
  args: modelArgs,
  outputs: modelOutputs,
  replaceOn: ["projectId", "submittedJobId"],
  // An update only renames the model.
  stableOutputs: ["modelId", "trainingJobId", "algorithmType", "algorithmParameters", "quality"],
  // A new algorithm replaces the training job, which in turn replaces the model.
  ignoreChanges: ["algorithmId"],
  // An adopted model has no job.
  adoptedWithout: ["submittedJobId"],

  validate(args: ModelArgs & { readonly triggers?: unknown }) {
    const { existingId, algorithmId, triggers } = args;
    const noJob = missingJobError("TrainingJob", "TrainedModel", args);
    if (noJob) return noJob;
    if (existingId === undefined)
      return algorithmId === undefined ? "algorithmId is required, unless existingId is set" : undefined;
    if (algorithmId === undefined && triggers === undefined) return undefined;
    return "existingId adopts a model as it is; remove algorithmId and triggers";
  },

  replacementWarning({ title, changes, state: { __trainedMs } }) {
    if (changes.length === 0 || typeof __trainedMs !== "number") return undefined;
    return `${title}: the last training took ${ms(__trainedMs, { long: true })}.`;
  },

  calls: () => ({
    create: [routes.getJob, routes.getModel],
    adopt: [routes.listModels],
    update: [routes.updateModel],
    delete: [routes.deleteModel],
  }),

  async create({ projectId, algorithmId = "", name, submittedJobId = "" }, context) {
    const { client, run } = context;
    const read = (modelId: string) =>
      undefinedIfMissing(client.call(routes.getModel, { projectId, modelId }));
    const submitAgain = (follows: string, named = name) =>
      submitJob(
        context,
        routes.submitTrainingJob,
        { projectId, algorithmId, name: named },
        {
          follows,
          adopt: (given) => adoptTraining(given, projectId, context),
          idOf: ({ jobId }) => modelOfLostJob(jobId) ?? jobId,
        },
      );
    let found: Found | undefined;
    const job = await finishJob(context, {
      kind: jobKinds.training,
      projectId,
      jobId: submittedJobId,
      submitAgain,
      // If the submission of the job got no response, only the job's model is known.
      readJob: async (jobId) => {
        const modelId = modelOfLostJob(jobId);
        if (modelId !== undefined) return { jobStatus: "SUCCEED", jobResult: { modelId } };
        return client.call(routes.getJob, { projectId, jobId });
      },
      resultIsThere: async ({ jobResult }) => {
        const modelId = jobResult?.modelId;
        // Training again would not help, because the service would not report the next model either.
        if (!modelId) throw new Error("the training job succeeded, but the service did not report its model");
        found = await read(modelId);
        return found !== undefined;
      },
    });
    run.models.forget();
    const modelId = job.jobResult?.modelId as string;
    // Records that this run created the model, so it is not mistaken for the model of another submission without a
    // response.
    run.created.get(routes.submitTrainingJob.path)?.add(lostJobOf(modelId));
    // The declared name may have changed after the job was submitted.
    if (found?.name != null && found.name !== name) await rename({ projectId, modelId, name }, context);
    if (modelOfLostJob(job.id) !== undefined) return { id: modelId, modelId, ...described(found) };
    const quality = knownFigures(job.jobData?.quality);
    const parameters = job.jobData?.chosenParameters ?? job.jobData?.algorithmParameters;
    const text = quality && qualityText(quality);
    if (text) await log.info(context.urn, `trained with ${text}`);
    assertQuality(quality ?? {}, modelId, context);
    return {
      id: modelId,
      modelId,
      trainingJobId: job.id,
      ...described(found),
      ...(parameters && { algorithmParameters: parameters }),
      ...(quality && { quality }),
      ...(job.tookMs !== undefined && { __trainedMs: job.tookMs }),
    };
  },

  async assertAdoptable(modelId, { projectId }, context) {
    if (await find(modelId, projectId, context)) return;
    throw new Error(
      `existingId ${truncate(modelId)}: there is no such model in project ${truncate(projectId)}`,
    );
  },

  async adopt(modelId, { projectId, name }, context) {
    const found = await find(modelId, projectId, context);
    if (found?.name !== name) await rename({ projectId, modelId, name }, context);
    return { modelId, ...described(found) };
  },

  async read(modelId, state, context) {
    const { projectId } = state;
    return confirmedState(context, {
      state,
      listed: await find(modelId, projectId, context),
      reported: ({ name }) => knownFields({ name }),
      readAlone: () => readAlone(modelId, projectId, context),
      route: routes.getModel,
    });
  },

  async update(modelId, olds, { projectId, name }, context) {
    await rename({ projectId, modelId, name }, context);
    return { ...fieldsOf(modelOutputs, olds), modelId };
  },

  async delete(modelId, { projectId }, context) {
    const { client, run } = context;
    const explained = async (error: Error) => {
      if (error instanceof ApiError && meansInUse(error))
        error.message += `. ${await releaseHint(projectId, context)}`;
      throw error;
    };
    await deleteObject({
      send: (options) => client.call(routes.deleteModel, { projectId, modelId }, options).catch(explained),
      isGone: async () => {
        run.models.forget();
        return (await readAlone(modelId, projectId, context)) === undefined;
      },
    });
    run.models.forget();
  },
});

async function rename(
  { projectId, modelId, name }: { projectId: string; modelId: string; name: string },
  { client, run }: Context,
): Promise<void> {
  await applyDeclared({
    object: `model ${truncate(modelId)}`,
    sent: { name },
    send: (options) => client.call(routes.updateModel, { projectId, modelId, name }, options),
    read: () => client.call(routes.getModel, { projectId, modelId }),
    reported: (found) => knownFields({ name: found.name }),
  });
  run.models.forget();
}

function described({ algorithmType, algorithmParameters, createdTs }: Partial<Found> = {}) {
  return knownFields({ algorithmType, algorithmParameters, __createdTs: createdTs });
}

/** Explains which deployment uses a model that cannot be deleted, and what to do. */
async function releaseHint(projectId: string, { run, settings }: Context): Promise<string> {
  const holders = await run.claims.entriesFor({
    type: "Deployment",
    id: projectId,
    service: settings.baseUrl,
  });
  const holder = holders.find((row) => !run.claims.isReleased(row) && !run.claims.isOfOtherStack(row));
  const keep = "or keep the model with retainOnDelete";
  if (!holder) {
    return (
      "A deployment outside this stack uses it: deploy a different model there, or shut it down " +
      `with \`recommender shutdown --project ${projectId}\`; ${keep}.`
    );
  }
  const name = titleOf(partsOf(holder.urn));
  if (run.reached.has(holder.urn)) {
    return (
      `${name} of this stack still uses it: it declares this model, or ignoreChanges prevents the switch. ` +
      `Declare a different model in ${name}, ${keep}.`
    );
  }
  return (
    `${name} of this stack still uses it, and this run has not updated it: target it too, with ` +
    `--target '${holder.urn}', and remove deleteBeforeReplace, which deletes the model before the switch; ${keep}.`
  );
}

/**
 * Finds a model in the list of its project, which all resources share. A model that is not in the list is read
 * separately.
 */
async function find(modelId: string, projectId: string, context: Context): Promise<Found | undefined> {
  return (await listed(projectId, context)).get(modelId) ?? readAlone(modelId, projectId, context);
}

function listed(projectId: string, { client, clock, run }: Context): Promise<Map<string, Found>> {
  return run.models.get(projectId, clock, async () => {
    const { models: all } = await client.call(routes.listModels, { projectId });
    return new Map(all.map((entry) => [entry.modelId, entry]));
  });
}

/** Reads a model without the list, which may be out of date. Returns undefined if the model does not exist. */
function readAlone(modelId: string, projectId: string, context: Context): Promise<Found | undefined> {
  const read = (id: string) => context.client.call(routes.getModel, { projectId, modelId: id });
  return undefinedIfMissing(read(modelId), async () =>
    isMissingNextTo(await listed(projectId, context), modelId, read),
  );
}
