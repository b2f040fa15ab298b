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

/** A small recommender in one file: records, project settings, and whether to train and deploy a model. */
export const seedFile = z.strictObject({
  name: z.string().min(1).default("seed").describe("Name of every created resource."),
  targetEventType: z
    .string()
    .min(1)
    .optional()
    .describe("Event type to optimise for; by default the type of the first event."),
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

/** Uploads a seed file through the API of a running service and returns the id of the new project. */
export async function seed(service: Service, content: unknown): Promise<string> {
  const file = seedFile.parse(content);
  const { name } = file;
  const first = file.events[0] as (typeof file.events)[number];
  const events = file.events.map((event) => ({
    ...event,
    eventId: event.eventId ?? buildEventId(event.userId, event.itemId, event.ts),
  }));
  const call = caller(service);
  const dataset = ({ length }: { length: number }, schema: typeof file.userSchema) => ({
    name,
    numShards: Math.max(1, Math.ceil(length / limits.recordsPerShard)),
    attributeSchema: schema,
  });
  const userDataset = await call(routes.createUserDataset, dataset(file.users, file.userSchema));
  const itemDataset = await call(routes.createItemDataset, dataset(file.items, file.itemSchema));
  const eventDataset = await call(routes.createEventDataset, dataset(events, null));
  const ids = {
    userDatasetId: userDataset.user_dataset_id as string,
    itemDatasetId: itemDataset.item_dataset_id as string,
    eventDatasetId: eventDataset.event_dataset_id as string,
  };
  for (const users of batches(file.users))
    await call(routes.upsertDatasetUsers, { userDatasetId: ids.userDatasetId, users });
  for (const items of batches(file.items))
    await call(routes.upsertDatasetItems, { itemDatasetId: ids.itemDatasetId, items });
  for (const batch of batches(events))
    await call(routes.upsertDatasetEvents, { eventDatasetId: ids.eventDatasetId, events: batch });
  const target = file.targetEventType ?? first.eventType;
  const project = await call(routes.createProject, { name, ...ids, targetEventType: target });
  const projectId = project.project_id as string;
  const algorithm = await call(routes.createAlgorithm, { projectId, name });
  if (file.deploy) await deploy(call, file, projectId, algorithm.algorithm_id as string);
  return projectId;
}

/** Trains a model and deploys it. */
async function deploy(
  call: ReturnType<typeof caller>,
  { name, qps }: z.output<typeof seedFile>,
  projectId: string,
  algorithmId: string,
): Promise<void> {
  const finished = async (jobId: unknown): Promise<Record<string, unknown>> => {
    for (;;) {
      const job = await call(routes.getJob, { projectId, jobId: jobId as string });
      if (job.job_status === "SUCCEED") return job.job_result as Record<string, unknown>;
      if (job.job_status === "FAILED") throw new Error(`Seeding failed: ${JSON.stringify(job.job_result)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const training = await call(routes.submitTrainingJob, { projectId, algorithmId, name });
  const generatorModelId = (await finished(training.job_id)).model_id as string;
  const deployment = await call(routes.submitDeploymentJob, { projectId, name, generatorModelId, qps });
  await finished(deployment.job_id);
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
  const response = await fetch(url, init);
  const body = (await response.json()) as { error?: { message: string }; failures?: { reason: string }[] };
  if (!response.ok) throw new Error(`Seeding failed: ${body.error?.message}`);
  if (body.failures?.[0]) throw new Error(`Seeding failed: ${body.failures[0].reason}`);
  return body as Record<string, unknown>;
}
