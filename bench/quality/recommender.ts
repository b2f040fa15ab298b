import { Client, endpointToken } from "../../client/client";
import { type Input, limits, type Reply, routes } from "../../contract";
import type { ServiceProcess } from "../service/api";
import type { DataSet, Pair } from "./data";

const callsAtOnce = 8;

/** Uploads the records of a dataset to a service, for any number of trainings. */
export class Recommender {
  private constructor(
    private readonly client: Client,
    private readonly userDatasetId: string,
    private readonly itemDatasetId: string,
  ) {}

  static async of({ name, users, items }: DataSet, { url, key }: ServiceProcess): Promise<Recommender> {
    const token = endpointToken({ url: `${url}/oauth/token`, clientId: "bench", clientSecret: key });
    const client = new Client({ baseUrl: url, apiKey: key, token });
    const created = { name, attributeSchema: null, numShards: 1 };
    const { userDatasetId } = await client.call(routes.createUserDataset, created);
    const { itemDatasetId } = await client.call(routes.createItemDataset, created);
    const listed = [...users].map(([userId, attributes]) => ({ userId, attributes }));
    for (const batch of batches(listed)) {
      none(await client.call(routes.upsertDatasetUsers, { userDatasetId, users: batch }));
    }
    const goods = [...items].map(([itemId, attributes]) => ({ itemId, attributes }));
    for (const batch of batches(goods)) {
      none(await client.call(routes.upsertDatasetItems, { itemDatasetId, items: batch }));
    }
    return new Recommender(client, userDatasetId, itemDatasetId);
  }

  /** Uploads the events, trains with `{}`, deploys, and returns the recommendations of every user. */
  async learn(name: string, train: readonly Pair[], users: Iterable<string>, limit: number) {
    const { ask, end, trainingSeconds, chosenParameters } = await this.deploy(name, train);
    const lists = await ask(users, limit);
    await end();
    return { lists, trainingSeconds, chosenParameters };
  }

  /** Uploads the events, trains with `{}` and deploys. */
  async deploy(name: string, train: readonly Pair[]) {
    const { client, userDatasetId, itemDatasetId } = this;
    const { eventDatasetId } = await client.call(routes.createEventDataset, {
      name,
      attributeSchema: null,
      numShards: Math.ceil(train.length / limits.recordsPerShard) + 1,
    });
    await this.upload(eventDatasetId, train);
    const { projectId } = await client.call(routes.createProject, {
      name,
      projectType: "RECOMMEND_ITEMS_TO_USER",
      userDatasetId,
      itemDatasetId,
      eventDatasetId,
      targetEventType: "choose",
    });
    const { algorithmId } = await client.call(routes.createAlgorithm, {
      projectId,
      name,
      algorithmType: "G1",
      algorithmParameters: {},
    });
    const began = performance.now();
    const training = await this.finished(
      projectId,
      await client.call(routes.submitTrainingJob, { projectId, algorithmId, name }),
    );
    const trainingSeconds = (performance.now() - began) / 1000;
    const generatorModelId = training.jobResult?.modelId as string;
    const deployment = await this.finished(
      projectId,
      await client.call(routes.submitDeploymentJob, { projectId, name, generatorModelId, qps: 1_000_000 }),
    );
    const baseUrl = deployment.jobResult?.servingUri ?? undefined;
    const rankedBy = { generatorModelId, rankerModelId: generatorModelId };
    return {
      trainingSeconds,
      chosenParameters: training.jobData?.chosenParameters ?? null,
      quality: training.jobData?.quality ?? null,
      /** Deploys the model as its own ranker too. */
      rank: async () => {
        const job = { projectId, name, ...rankedBy, qps: 1_000_000 };
        await this.finished(projectId, await client.call(routes.submitDeploymentJob, job));
      },
      /** Adds events after the training. */
      add: (pairs: readonly Pair[]) => this.upload(eventDatasetId, pairs, "later"),
      /** Returns the recommendations of users. */
      ask: async (users: Iterable<string>, limit: number) => {
        const lists = new Map<string, string[]>();
        await atOnce([...users], async (userId) => {
          const asked = { userId, attributes: [], limit };
          const { results } = await client.call(routes.recommendItemsToUser, asked, { baseUrl });
          lists.set(
            userId,
            results.map(({ item }) => item.itemId),
          );
        });
        return lists;
      },
      end: () => client.call(routes.shutdownDeployment, { projectId }),
    };
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private async upload(eventDatasetId: string, pairs: readonly Pair[], prefix = "e"): Promise<void> {
    type Event = Input<typeof routes.upsertDatasetEvents>["events"][number];
    const events = pairs.map(
      ({ user, item, time }, at): Event => ({
        eventId: `${prefix}${at}`,
        userId: user,
        itemId: item,
        ts: time === undefined ? 1_700_000_000_000 + at : time * 1000,
        eventType: "choose",
        eventValue: 1,
        attributes: {},
      }),
    );
    await atOnce(batches(events), async (batch) => {
      none(await this.client.call(routes.upsertDatasetEvents, { eventDatasetId, events: batch }));
    });
  }

  private async finished(
    projectId: string,
    { jobId }: { jobId: string },
  ): Promise<Reply<typeof routes.getJob>> {
    for (;;) {
      const job = await this.client.call(routes.getJob, { projectId, jobId });
      if (job.jobStatus === "SUCCEED") return job;
      if (job.jobStatus === "FAILED") throw new Error(`job ${jobId} failed: ${job.jobResult?.message}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function none({ failedIds }: { failedIds: readonly string[] }): void {
  if (failedIds.length > 0) throw new Error(`The service rejected ${failedIds.length} records.`);
}

function batches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / limits.recordsPerUpsert) }, (_, at) =>
    all.slice(at * limits.recordsPerUpsert, (at + 1) * limits.recordsPerUpsert),
  );
}

async function atOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < all.length) await work(all[next++] as T);
  };
  await Promise.all(Array.from({ length: callsAtOnce }, worker));
}
