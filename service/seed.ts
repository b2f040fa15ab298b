import { z } from "zod";
import {
  attributeSchema,
  buildEventId,
  encode,
  eventRecord,
  type Input,
  itemRecord,
  limits,
  type Route,
  routes,
  userRecord,
} from "../contract";
import type { Service } from "./start";

/** A small recommender in one file: its records, its project, and whether to train and deploy it. */
export const seedFile = z.strictObject({
  name: z.string().min(1).default("seed").describe("Name of everything that is made."),
  targetEventType: z
    .string()
    .min(1)
    .optional()
    .describe("Event type to optimise for; the first event's unless given."),
  userSchema: attributeSchema.default(null),
  itemSchema: attributeSchema.default(null),
  users: z.array(userRecord).default([]),
  items: z.array(itemRecord).default([]),
  events: z.array(eventRecord.extend({ eventId: z.string().min(1).optional() })).min(1),
  deploy: z.boolean().default(true).describe("Whether to train and deploy a model as well."),
  qps: z.int().min(1).default(100),
});

/** The content of a seed file. */
export type Seed = z.input<typeof seedFile>;

/** Fills a running service through its own API and gives the project's id; once deployed it serves. */
export async function seed(service: Service, content: unknown): Promise<string> {
  const file = seedFile.parse(content);
  const { name } = file;
  const first = file.events[0] as (typeof file.events)[number];
  const events = file.events.map((event) => ({
    ...event,
    eventId: event.eventId ?? buildEventId(event.userId, event.itemId, event.ts),
  }));
  const call = caller(service);
  const shards = (records: number) => Math.max(1, Math.ceil(records / limits.recordsPerShard));
  const dataset = (records: number, schema: Input<typeof routes.createUserDataset>["attributeSchema"]) => ({
    name,
    numShards: shards(records),
    attributeSchema: schema,
  });
  const { user_dataset_id } = await call(
    routes.createUserDataset,
    dataset(file.users.length, file.userSchema),
  );
  const { item_dataset_id } = await call(
    routes.createItemDataset,
    dataset(file.items.length, file.itemSchema),
  );
  const { event_dataset_id } = await call(routes.createEventDataset, dataset(events.length, null));
  const ids = {
    userDatasetId: user_dataset_id as string,
    itemDatasetId: item_dataset_id as string,
    eventDatasetId: event_dataset_id as string,
  };
  for (const users of batches(file.users))
    await call(routes.upsertDatasetUsers, { userDatasetId: ids.userDatasetId, users });
  for (const items of batches(file.items))
    await call(routes.upsertDatasetItems, { itemDatasetId: ids.itemDatasetId, items });
  for (const some of batches(events))
    await call(routes.upsertDatasetEvents, { eventDatasetId: ids.eventDatasetId, events: some });
  const target = file.targetEventType ?? first.eventType;
  const project = await call(routes.createProject, { name, ...ids, targetEventType: target });
  const projectId = project.project_id as string;
  const algorithm = await call(routes.createAlgorithm, { projectId, name });
  if (!file.deploy) return projectId;

  const finished = async (jobId: unknown): Promise<Record<string, unknown>> => {
    for (;;) {
      const job = await call(routes.getJob, { projectId, jobId: jobId as string });
      if (job.job_status === "SUCCEED") return job.job_result as Record<string, unknown>;
      if (job.job_status === "FAILED")
        throw new Error(`The seed cannot be deployed: ${JSON.stringify(job.job_result)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const training = await call(routes.submitTrainingJob, {
    projectId,
    algorithmId: algorithm.algorithm_id as string,
    name,
  });
  const { model_id } = await finished(training.job_id);
  const deployment = await call(routes.submitDeploymentJob, {
    projectId,
    name,
    generatorModelId: model_id as string,
    qps: file.qps,
  });
  await finished(deployment.job_id);
  return projectId;
}

function* batches<T>(records: readonly T[]): Iterable<T[]> {
  for (let from = 0; from < records.length; from += limits.recordsPerUpsert) {
    yield records.slice(from, from + limits.recordsPerUpsert);
  }
}

function caller({ url, key }: Service) {
  return async <R extends Route>(route: R, input: Input<R>): Promise<Record<string, unknown>> => {
    const form = { grant_type: "client_credentials", client_secret: key, scope: route.path };
    const token = (await send(`${url}/oauth/token`, { method: "POST", body: new URLSearchParams(form) }))
      .access_token;
    const wire = encode(route.request, route.request.parse(input) as never) as Record<string, string>;
    const headers = { apikey: key, authorization: `Bearer ${token}` };
    if (route.method === "GET") return send(`${url}${route.path}?${new URLSearchParams(wire)}`, { headers });
    return send(`${url}${route.path}`, {
      method: route.method,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(wire),
    });
  };
}

async function send(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  const answer = await fetch(url, init);
  const body = (await answer.json()) as { error?: { message: string }; failures?: { reason: string }[] };
  if (!answer.ok) throw new Error(`Seeding failed: ${body.error?.message}`);
  if (body.failures?.[0]) throw new Error(`Seeding failed: ${body.failures[0].reason}`);
  return body as Record<string, unknown>;
}
