import ms from "ms";
import { z } from "zod";
import { ApiError } from "../client/client";
import { listConfirmsAbsence, meansInUse, undefinedIfMissing } from "../client/error-meaning";
import { isUncertain, quality, type Reply, routes } from "../contract";
import { id, jsonMap, label } from "../contract/field";
import { truncate } from "../contract/messages";
import { finishJob, jobKinds, missingJobError, submitJob } from "./jobs/jobs";
import { lifecycle } from "./lifecycle/lifecycle";
import type { Context } from "./run/context";
import { log } from "./run/engine";
import { partsOf, titleOf } from "./run/urn";
import { adoptTraining, lostJobOf, modelOfLostJob } from "./training-job";

/** Quality that a training measured on held-out pairs of users who were not used to choose parameters. */
export interface Quality {
  /** Share of held-out items among the top 20 recommendations. */
  readonly recallAt20?: number;
  /** NDCG of the top 20 recommendations. Like recall, but counts items more if they rank higher. */
  readonly ndcgAt20?: number;
  /** NDCG@20 of a baseline that recommends the most popular items to everyone. */
  readonly popularityNdcgAt20?: number;
  /** Recall@20 of a baseline that recommends the most popular items to everyone. */
  readonly popularityRecallAt20?: number;
  /** Number of held-out user-item pairs. With few pairs, the figures are uncertain. */
  readonly heldOutPairs?: number;
  /** Number of users with held-out pairs. None of them was used to choose parameters. */
  readonly heldOutUsers?: number;
  /** Which pairs were held out: `latest` (the latest of each user), or `random` if events have no time. */
  readonly holdOut?: string;
  /** Number of users from whose events the item vectors were learned, if there are too many events to use all. */
  readonly learnedOnUsers?: number;
  /** Number of all users. Users not among `learnedOnUsers` were folded in. */
  readonly allUsers?: number;
  /** NDCG@20 on the latest pairs, without a ranker. */
  readonly unrankedNdcgAt20?: number;
  /** NDCG@20 on the latest pairs, with this model as the ranker. Equal to `unrankedNdcgAt20` if the gain is not significant. */
  readonly rankedNdcgAt20?: number;
  /** Share of all items that are in the top 20 of at least one of up to 1,000 users. */
  readonly coverageAt20?: number;
  /** Share of these recommendations whose items have fewer than 5 users. */
  readonly coldItemsAt20?: number;
  /** Mean dissimilarity of a user's top 20 items: 0 if all are the same, about 1 if they have nothing in common. */
  readonly diversityAt20?: number;
  /** Mean popularity rank of these recommendations: 0 for the least popular item, 1 for the most popular. */
  readonly shownPopularityAt20?: number;
  /** Mean popularity rank of the items that these users chose. */
  readonly chosenPopularity?: number;
}

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
  // A new algorithm replaces the training job, and that replaces the model.
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
    const rename = async (found: Found) => {
      // The declared name may have changed after the job was submitted.
      if (found.name != null && found.name !== name)
        await client.call(routes.updateModel, { projectId, modelId: found.modelId, name });
    };
    let found: Found | undefined;
    const job = await finishJob(context, {
      kind: jobKinds.training,
      projectId,
      jobId: submittedJobId,
      submitAgain,
      // If the submission got no response, only the model of the job is known.
      readJob: async (jobId) => {
        const modelId = modelOfLostJob(jobId);
        if (modelId !== undefined) return { jobStatus: "SUCCEED", jobResult: { modelId } };
        return client.call(routes.getJob, { projectId, jobId });
      },
      resultIsThere: async ({ jobResult }) => {
        const modelId = jobResult?.modelId;
        // Training again would not help a service that does not report the model.
        if (!modelId) throw new Error("the training job succeeded, but the service did not report its model");
        found = await read(modelId);
        return found !== undefined;
      },
    });
    run.models.forget();
    const modelId = job.jobResult?.modelId as string;
    // Marks the model as created here, so a lost submission with the same name does not match it.
    run.created.get(routes.submitTrainingJob.path)?.add(lostJobOf(modelId));
    if (found) await rename(found);
    if (modelOfLostJob(job.id) !== undefined) return { id: modelId, modelId, ...(found && described(found)) };
    const quality = knownFigures(job.jobData?.quality);
    const parameters = job.jobData?.chosenParameters ?? job.jobData?.algorithmParameters;
    const text = quality && qualityText(quality);
    if (text) await log.info(context.urn, `trained with ${text}`);
    assertQuality(quality ?? {}, modelId, context);
    return {
      id: modelId,
      modelId,
      trainingJobId: job.id,
      ...(found && described(found)),
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
    if (found?.name !== name) await context.client.call(routes.updateModel, { projectId, modelId, name });
    return { modelId, ...(found && described(found)) };
  },

  async read(modelId, state, context) {
    const found = await find(modelId, state.projectId, context);
    return found && { ...state, ...(found.name != null && { name: found.name }) };
  },

  async update(
    modelId,
    { trainingJobId, algorithmType, algorithmParameters, quality, __trainedMs },
    news,
    { client, run },
  ) {
    await client.call(routes.updateModel, { projectId: news.projectId, modelId, name: news.name });
    run.models.forget();
    const kept = { trainingJobId, algorithmType, algorithmParameters, quality, __trainedMs };
    return {
      modelId,
      ...(Object.fromEntries(Object.entries(kept).filter(([, value]) => value)) as object),
    };
  },

  async delete(modelId, { projectId }, context) {
    const { client, run } = context;
    const deleted = client.call(routes.deleteModel, { projectId, modelId }).catch(async (error) => {
      if (error instanceof ApiError && meansInUse(error))
        error.message += `. ${await releaseHint(projectId, context)}`;
      throw error;
    });
    const isGone = async () => {
      run.models.forget();
      return (await find(modelId, projectId, context)) === undefined;
    };
    await undefinedIfMissing(deleted, isGone);
    run.models.forget();
  },
});

function described(found: Found): Partial<z.output<typeof modelOutputs>> {
  return {
    ...(found.algorithmType != null && { algorithmType: found.algorithmType }),
    ...(found.algorithmParameters != null && { algorithmParameters: found.algorithmParameters }),
  };
}

/** Explains which deployment uses a model that cannot be deleted, and what to do. */
async function releaseHint(projectId: string, { run, settings }: Context): Promise<string> {
  const holders = await run.claims.entriesFor({
    type: "Deployment",
    id: projectId,
    service: settings.baseUrl,
  });
  const holder = holders.find((row) => !run.claims.isReleased(row));
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

/** Fails if the model is below the required quality, before it is deployed. */
function assertQuality(
  { ndcgAt20: measured, heldOutPairs }: Quality,
  modelId: string,
  { settings, title }: Context,
): void {
  const { minQuality } = settings;
  const floor = minQuality[title.slice("Model ".length)] ?? minQuality["*"];
  if (floor === undefined || (measured !== undefined && measured >= floor)) return;
  const was =
    measured === undefined
      ? "the service reported no quality"
      : `it has NDCG@20 ${measured.toFixed(4)}${isUncertain(heldOutPairs) ? " (uncertain)" : ""}`;
  throw new Error(
    `model ${modelId} is not good enough: ${was}, but recommender:minQuality requires at least ${floor.toFixed(4)}. ` +
      "Nothing was deployed. The model stays in its project, and the next `pulumi up` uses it without training again.",
  );
}

/** Formats the quality, such as `NDCG@20 0.412 (popularity 0.380) on 240 held-out pairs`. */
function qualityText({ ndcgAt20, popularityNdcgAt20, heldOutPairs }: Quality): string | undefined {
  if (ndcgAt20 === undefined) return undefined;
  const baseline = popularityNdcgAt20 === undefined ? "" : ` (popularity ${popularityNdcgAt20.toFixed(3)})`;
  const pairs = heldOutPairs === 1 ? "1 held-out pair" : `${heldOutPairs ?? "the"} held-out pairs`;
  return `NDCG@20 ${ndcgAt20.toFixed(3)}${baseline} on ${pairs}${isUncertain(heldOutPairs) ? ": uncertain" : ""}`;
}

/** Returns the figures that the service reported, or undefined if there are none. */
function knownFigures(quality: object | null | undefined): Quality | undefined {
  const entries = Object.entries(quality ?? {}).filter(([, value]) => value != null);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** Finds a model. One list call per project serves all its models. A model that is not in it is read separately. */
async function find(
  modelId: string,
  projectId: string,
  { client, clock, run }: Context,
): Promise<Found | undefined> {
  const list = await run.models.get(projectId, clock, async () => {
    const { models: all } = await client.call(routes.listModels, { projectId });
    return new Map(all.map((entry) => [entry.modelId, entry]));
  });
  const read = (id: string) => client.call(routes.getModel, { projectId, modelId: id });
  return list.get(modelId) ?? undefinedIfMissing(read(modelId), () => listConfirmsAbsence(list, read));
}
