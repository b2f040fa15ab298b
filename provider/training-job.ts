import { z } from "zod";
import { undefinedIfMissing } from "../client/error-meaning";
import { routes } from "../contract";
import { id, json, label } from "../contract/field";
import { adoptJob, hasEnded, readBack, submitJob } from "./jobs/jobs";
import { ownJob } from "./jobs/other-project";
import { lifecycle } from "./lifecycle/lifecycle";
import type { Context } from "./run/context";
import { log } from "./run/engine";

/**
 * Maximum length of a warning on a screen with 80 columns, after the engine's prefix "    warning: ". The engine does
 * not wrap lines.
 */
const lineColumns = 67;

const lostJobPrefix = "lost-job-of-";

/** Returns the placeholder id for a job whose submission got no response. Only the job's model is known. */
export function lostJobOf(modelId: string): string {
  return lostJobPrefix + modelId;
}

/** Returns the model id in a placeholder of `lostJobOf`. Undefined for any other job id. */
export function modelOfLostJob(jobId: string): string | undefined {
  return jobId.startsWith(lostJobPrefix) ? jobId.slice(lostJobPrefix.length) : undefined;
}

/** Adopts the job of a submission that got no response. The user passes the id of the job or of its model. */
export async function adoptTraining(
  given: string,
  projectId: string,
  context: Context,
): Promise<{ jobId: string }> {
  const modelId = modelOfLostJob(given) ?? given;
  const read = context.client.call(routes.getModel, { projectId, modelId });
  if (await undefinedIfMissing<unknown>(read)) return { jobId: lostJobOf(modelId) };
  return adoptJob(given, { projectId }, context);
}

/** Lifecycle of a submitted training job. The API cannot stop or change a job. */
export const trainingJob = lifecycle({
  type: "TrainingJob",
  args: z.strictObject({
    projectId: id,
    algorithmId: id,
    name: label,
    triggers: z.array(json).default([]),
  }),
  outputs: z.object({ jobId: id }),
  replaceOn: ["projectId", "algorithmId", "triggers"],
  // Renaming a model does not rename its job.
  ignoreChanges: ["name"],
  readWith: readBack.readWith,

  async read(id, state, context) {
    return modelOfLostJob(id) === undefined ? readBack.read(id, state, context) : state;
  },

  replacementWarning({ name, changes, reason }) {
    const because = changes.length > 0 ? "because of" : "because";
    const words = `Model ${name}: this trains again, ${because} ${reason}.`;
    return words.length <= lineColumns ? words : words.replaceAll(" → ", "\n→ ");
  },

  async predictFailure({ projectId }, { urn, run }) {
    const fault = await run.trainingData.missingTarget(projectId);
    if (!fault) return undefined;
    if (fault.isCertain) return `there are no events to train on: ${fault.reason}`;
    await run.warnOnce(
      urn,
      `The training fails unless the dataset already has events of the target type: ${fault.reason}`,
    );
    return undefined;
  },

  calls: () => ({ create: [routes.submitTrainingJob] }),

  async create({ projectId, algorithmId, name, triggers }, context) {
    const { client } = context;
    const request = { projectId, algorithmId, name };
    const jobId = await submitJob(context, routes.submitTrainingJob, request, {
      identity: { projectId, algorithmId, triggers },
      // If the submission gets no response, a model with the name of the job may be its result.
      findLost: {
        name: `models of ${projectId}`,
        list: async () => (await client.call(routes.listModels, { projectId })).models,
        match: (model, jobName) => (model.name === jobName ? { jobId: lostJobOf(model.modelId) } : undefined),
        objectId: (jobId) => modelOfLostJob(jobId) ?? jobId,
        fix: "If the training is running, wait for its end and run `pulumi up` again to get the id of the new model.",
      },
      adopt: (given) => adoptTraining(given, projectId, context),
      isThere: async ({ jobId }) => {
        const modelId = modelOfLostJob(jobId);
        const read = modelId
          ? client.call(routes.getModel, { projectId, modelId })
          : client.call(routes.getJob, { projectId, jobId });
        return (await undefinedIfMissing<unknown>(read)) !== undefined;
      },
    });
    return { id: jobId, jobId };
  },

  async delete(jobId, { projectId }, context) {
    const { client, run, settings, urn } = context;
    let modelId = modelOfLostJob(jobId);
    if (modelId === undefined) {
      const read = undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }));
      const job = await ownJob(read, jobId, context);
      if (job && !hasEnded(job, settings)) {
        await log.warn(
          urn,
          `Training job ${jobId} is still ${job.jobStatus} and the API cannot stop it: its model will be ` +
            `orphaned in project ${projectId}.`,
        );
        return;
      }
      modelId = job?.jobResult?.modelId ?? undefined;
    }
    // A run that was interrupted while it waited for the job has not stored the model, so no resource deletes it.
    if (!modelId) return;
    const model = { type: "Model", id: modelId, service: settings.baseUrl };
    if ((await run.claims.entriesFor(model)).length > 0) return;
    if (await undefinedIfMissing(client.call(routes.getModel, { projectId, modelId }))) {
      await log.warn(
        urn,
        `Model ${modelId} is orphaned in project ${projectId}: no resource references it. ` +
          "Adopt it with the existingId of a Model, " +
          `or delete it with \`recommender models delete --project ${projectId} ${modelId}\`.`,
      );
    }
  },
});
