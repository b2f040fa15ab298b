import type { Rules } from "../../contract";
import type { Caller, Refusal, Running } from "./running";

const genres = ["drama", "comedy", "action", "western"];

/** Users, items and events of a small shop. Each user likes one genre, which is one of the attributes. */
export function shopRecords({ users = 40, items = 60, perUser = 10 } = {}) {
  const random = seeded(3);
  return {
    users: Array.from({ length: users }, (_, user) => ({
      userId: `u${user}`,
      attributes: { likes: genres[user % 4] as string, age: 20 + (user % 50) },
    })),
    items: Array.from({ length: items }, (_, item) => ({
      itemId: `i${item}`,
      attributes: { genre: [genres[item % 4] as string], title: `Title ${item}` },
    })),
    events: Array.from({ length: users * perUser }, (_, at) => {
      const user = at % users;
      const own = random() < 0.9;
      const item = own ? Math.floor((random() * items) / 4) * 4 + (user % 4) : Math.floor(random() * items);
      return {
        eventId: `e${at}`,
        userId: `u${user}`,
        itemId: `i${item}`,
        ts: 1_700_000_000_000 + at * 1000,
        eventType: "purchase",
        eventValue: 1,
      };
    }),
  };
}

/** Creates the shop's datasets, fills them, and adds a project and an algorithm. */
export async function openShop(api: Caller, records = shopRecords()) {
  const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
  const { itemDatasetId } = await api.call("createItemDataset", { name: "items", numShards: 1 });
  const { eventDatasetId } = await api.call("createEventDataset", { name: "events", numShards: 1 });
  await api.call("upsertDatasetUsers", { userDatasetId, users: records.users });
  await api.call("upsertDatasetItems", { itemDatasetId, items: records.items });
  for (let from = 0; from < records.events.length; from += 1000) {
    await api.call("upsertDatasetEvents", {
      eventDatasetId,
      events: records.events.slice(from, from + 1000),
    });
  }
  const { projectId } = await api.call("createProject", {
    name: "shop",
    userDatasetId,
    itemDatasetId,
    eventDatasetId,
    targetEventType: "purchase",
  });
  // With parameters, the training does not search for good ones.
  const algorithmParameters = { dimensions: 8, regularization: 0.05, alpha: 0.3, epochs: 8 };
  const { algorithmId } = await api.call("createAlgorithm", { projectId, name: "g1", algorithmParameters });
  return { userDatasetId, itemDatasetId, eventDatasetId, projectId, algorithmId };
}

/** Trains a model and returns its id. */
export async function trainModel(
  api: Running,
  shop: { projectId: string; algorithmId: string },
  name = "weekly",
) {
  const { projectId, algorithmId } = shop;
  const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name });
  const job = await api.finished(projectId, jobId);
  if (job.jobStatus !== "SUCCEED") throw new Error(JSON.stringify(job));
  return job.jobResult?.modelId as string;
}

/** Deploys models. */
export async function deploy(
  api: Running,
  projectId: string,
  generatorModelId: string,
  more: { rankerModelId?: string; qps?: number; rules?: Rules } = {},
) {
  const { jobId } = await api.call("submitDeploymentJob", {
    projectId,
    name: "live",
    generatorModelId,
    qps: 1000,
    ...more,
  });
  const job = await api.finished(projectId, jobId);
  if (job.jobStatus !== "SUCCEED") throw new Error(JSON.stringify(job));
  return job.jobResult?.servingUri as string;
}

/** Deletes everything of a shop that another shop of the same service could notice. */
export async function closeShop(api: Caller, shop: Awaited<ReturnType<typeof openShop>>): Promise<void> {
  const { projectId, eventDatasetId } = shop;
  await unlessGone(api.call("shutdownDeployment", { projectId }));
  await unlessGone(api.call("deleteEventDataset", { eventDatasetId }));
  const { models } = await api.call("listModels", { projectId });
  for (const { modelId } of models) await api.call("deleteModel", { projectId, modelId });
}

async function unlessGone(deleted: Promise<unknown>): Promise<void> {
  await deleted.catch(({ status, message }: Refusal) => {
    if (status !== 404 && status !== 409) throw new Error(message);
  });
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}
