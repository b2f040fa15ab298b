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

/** What the training measured on held-out pairs of users who had no part in the choice of its parameters. */
export interface Quality {
  /** Share of the held-out items that are among the first 20 recommended. */
  readonly recallAt20?: number;
  /** The same, weighted by rank. */
  readonly ndcgAt20?: number;
  /** The `ndcgAt20` that recommending the most popular items to everyone would have reached. */
  readonly popularityNdcgAt20?: number;
  /** The `recallAt20` that recommending the most popular items to everyone would have reached. */
  readonly popularityRecallAt20?: number;
  /** Pairs of user and item that the figures rest on; few make them uncertain. */
  readonly heldOutPairs?: number;
  /** Users that these pairs belong to; none of them had a part in the choice of parameters. */
  readonly heldOutUsers?: number;
  /** Which pairs were held out: `latest`, the latest of each user, or `random` where the events have no time. */
  readonly holdOut?: string;
  /** Users whose events the vectors of the items were learned from, where there are too many events for all users. */
  readonly learnedOnUsers?: number;
  /** All users, of whom those are some; the others were folded in. */
  readonly allUsers?: number;
  /** NDCG@20 of the model's candidates on the latest pairs. */
  readonly unrankedNdcgAt20?: number;
  /** The same with the model as the ranker; the same figure if its gain is not significant, for it changes nothing then. */
  readonly rankedNdcgAt20?: number;
  /** Share of all items that are among the first 20 for at least one of up to 1,000 users. */
  readonly coverageAt20?: number;
  /** Share of these results that fewer than 5 users chose. */
  readonly coldItemsAt20?: number;
  /** How unlike the 20 items of a user are: 0 where all are the same, about 1 where they have nothing in common. */
  readonly diversityAt20?: number;
  /** Mean place of these results in the order of popularity: 0 for the least popular item, 1 for the most popular. */
  readonly shownPopularityAt20?: number;
  /** The same of what these users chose. */
  readonly chosenPopularity?: number;
}

/** Why a model is never deleted before its replacement: the service deletes no model that serves. */
export const deletedAfterReplacement =
  "deleteBeforeReplace does not apply to models: the former one may serve until the next one does, and is deleted then";

const modelArgs = z.strictObject({
  projectId: id,
  algorithmId: id.optional(),
  name: label,
  submittedJobId: id.optional().describe("Id of the job that trains it: `jobId` of a `TrainingJob`."),
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

/** A model, which a training job creates. */
export const model = lifecycle({
  type: "Model",
  args: modelArgs,
  outputs: modelOutputs,
  replaceOn: ["projectId", "submittedJobId"],
  // An update only renames it.
  stableOutputs: ["modelId", "trainingJobId", "algorithmType", "algorithmParameters", "quality"],
  // Another algorithm is another training job, which decides.
  ignoreChanges: ["algorithmId"],
  // An adopted model has no job.
  adoptedWithout: ["submittedJobId"],

  validate(args: ModelArgs & { readonly triggers?: unknown }) {
    const { existingId, algorithmId, triggers } = args;
    const noJob = missingJobError("TrainingJob", "TrainedModel", args);
    if (noJob) return noJob;
    if (existingId === undefined)
      return algorithmId === undefined ? "algorithmId is needed to train it" : undefined;
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
      // A name that was changed between the submission and now is not the job's.
      if (found.name != null && found.name !== name)
        await client.call(routes.updateModel, { projectId, modelId: found.modelId, name });
    };
    let found: Found | undefined;
    const job = await finishJob(context, {
      kind: jobKinds.training,
      projectId,
      jobId: submittedJobId,
      submitAgain,
      // Of a job whose submission got no response, only the model is known.
      readJob: async (jobId) => {
        const modelId = modelOfLostJob(jobId);
        if (modelId !== undefined) return { jobStatus: "SUCCEED", jobResult: { modelId } };
        return client.call(routes.getJob, { projectId, jobId });
      },
      resultIsThere: async ({ jobResult }) => {
        const modelId = jobResult?.modelId;
        // Training again would not help a service that does not report the model.
        if (!modelId) throw new Error("the training job succeeded, but names no model");
        found = await read(modelId);
        return found !== undefined;
      },
    });
    run.models.forget();
    const modelId = job.jobResult?.modelId as string;
    // It is known to be of this job, whatever else may have its name.
    run.created.get(routes.submitTrainingJob.path)?.add(lostJobOf(modelId));
    if (found) await rename(found);
    if (modelOfLostJob(job.id) !== undefined) return { id: modelId, modelId, ...(found && described(found)) };
    const quality = knownFigures(job.jobData?.quality);
    const parameters = job.jobData?.chosenParameters ?? job.jobData?.algorithmParameters;
    const words = quality && qualityWords(quality);
    if (words) await log.info(context.urn, `trained with ${words}`);
    refuseBelow(quality ?? {}, modelId, context);
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
        error.message += `. ${await howToFree(projectId, context)}`;
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

/** Why a model serves that is to be deleted, as far as the state and the run show, and what to do. */
async function howToFree(projectId: string, { run, settings }: Context): Promise<string> {
  const holders = await run.claims.entriesFor({
    type: "Deployment",
    id: projectId,
    service: settings.baseUrl,
  });
  const holder = holders.find((row) => !run.claims.isReleased(row));
  const keep = "or keep the model with retainOnDelete";
  if (!holder) {
    return (
      "A deployment outside this stack serves it: deploy another model there, or stop " +
      `serving with \`recommender shutdown --project ${projectId}\`; ${keep}.`
    );
  }
  const name = titleOf(partsOf(holder.urn));
  if (run.reached.has(holder.urn)) {
    return (
      `${name} of this stack still serves it: it declares this model, or ignoreChanges keeps it from switching. ` +
      `Let ${name} declare another model, ${keep}.`
    );
  }
  return (
    `${name} of this stack still serves it, and this run has not updated it: target it too, with ` +
    `--target '${holder.urn}', and remove deleteBeforeReplace, which deletes the model before the switch; ${keep}.`
  );
}

/** A model that is not good enough is refused before anything switches over to it. */
function refuseBelow(
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
    `model ${modelId} is not good enough: ${was}, at least ${floor.toFixed(4)} is required by recommender:minQuality. ` +
      "Nothing was deployed. The model stays in its project, and the next `pulumi up` uses it without training again.",
  );
}

/** `NDCG@20 0.412 (popularity 0.380) on 240 held-out pairs`, as far as it is known. */
function qualityWords({ ndcgAt20, popularityNdcgAt20, heldOutPairs }: Quality): string | undefined {
  if (ndcgAt20 === undefined) return undefined;
  const beside = popularityNdcgAt20 === undefined ? "" : ` (popularity ${popularityNdcgAt20.toFixed(3)})`;
  const pairs = heldOutPairs === 1 ? "1 held-out pair" : `${heldOutPairs ?? "the"} held-out pairs`;
  return `NDCG@20 ${ndcgAt20.toFixed(3)}${beside} on ${pairs}${isUncertain(heldOutPairs) ? ": uncertain" : ""}`;
}

/** Returns the figures that the service reported, or undefined if there are none. */
function knownFigures(quality: object | null | undefined): Quality | undefined {
  const entries = Object.entries(quality ?? {}).filter(([, value]) => value != null);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** One list per project answers for all its models; what is missing in it is asked for by itself. */
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
