import { z } from "zod";
import { undefinedIfMissing } from "../client/error-meaning";
import { routes } from "../contract";
import { id, json, label } from "../contract/field";
import { adoptJob, hasEnded, submitJob } from "./jobs/jobs";
import { readBack } from "./jobs/read-back";
import { lifecycle } from "./lifecycle/lifecycle";
import type { Context } from "./run/context";
import { log } from "./run/engine";

/** Of 80 columns, what the engine's "    warning: " leaves of the line; it breaks none by itself. */
const lineColumns = 67;

const lostJobPrefix = "lost-job-of-";

/** Stands for the job of a model whose submission got no response. */
export function lostJobOf(modelId: string): string {
  return lostJobPrefix + modelId;
}

/** The model of a job of which only the model is known; undefined for any other job. */
export function modelOfLostJob(jobId: string): string | undefined {
  return jobId.startsWith(lostJobPrefix) ? jobId.slice(lostJobPrefix.length) : undefined;
}

/** Adopts the training of a lost submission. The user names its job, or the model that it has trained. */
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

/** The API has no way to stop a job or to change it. */
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
  // A model is renamed by itself; the job that trained it keeps its name.
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
    if (fault.isCertain) return `there is nothing to learn from: ${fault.reason}`;
    await run.warnOnce(
      urn,
      `Unless the dataset has such events already, the training fails: ${fault.reason}`,
    );
    return undefined;
  },

  calls: () => ({ create: [routes.submitTrainingJob] }),

  async create({ projectId, algorithmId, name, triggers }, context) {
    const { client } = context;
    const request = { projectId, algorithmId, name };
    const jobId = await submitJob(context, routes.submitTrainingJob, request, {
      identity: { projectId, algorithmId, triggers },
      // If the submission gets no response, its model tells whether it succeeded: it has the name of the job.
      findLost: {
        name: `models of ${projectId}`,
        list: async () => (await client.call(routes.listModels, { projectId })).models,
        match: (model, asked) => (model.name === asked ? { jobId: lostJobOf(model.modelId) } : undefined),
        objectId: (jobId) => modelOfLostJob(jobId) ?? jobId,
        fix: "If the training is running, wait for its end and run `pulumi up` again: it names the new model.",
      },
      adopt: (given) => adoptTraining(given, projectId, context),
      isThere: async ({ jobId }) => {
        const modelId = modelOfLostJob(jobId);
        const there = modelId
          ? client.call(routes.getModel, { projectId, modelId })
          : client.call(routes.getJob, { projectId, jobId });
        return (await undefinedIfMissing<unknown>(there)) !== undefined;
      },
    });
    return { id: jobId, jobId };
  },

  async delete(jobId, { projectId }, { client, run, settings, urn }) {
    let modelId = modelOfLostJob(jobId);
    if (modelId === undefined) {
      const job = await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }));
      if (job && !hasEnded(job, settings)) {
        await log.warn(
          urn,
          `Training job ${jobId} is still ${job.jobStatus} and the API cannot stop it: the model that it creates is ` +
            `orphaned in project ${projectId}.`,
        );
        return;
      }
      modelId = job?.jobResult?.modelId ?? undefined;
    }
    // A run that ended during the wait has no model in the state that would have been deleted before.
    if (!modelId) return;
    const model = { type: "Model", id: modelId, service: settings.baseUrl };
    if ((await run.claims.entriesFor(model)).length > 0) return;
    if (await undefinedIfMissing(client.call(routes.getModel, { projectId, modelId }))) {
      await log.warn(
        urn,
        `Model ${modelId} is orphaned in project ${projectId}: no resource holds it. Adopt it with existingId of a Model, ` +
          `or delete it with \`recommender models delete --project ${projectId} ${modelId}\`.`,
      );
    }
  },
});
