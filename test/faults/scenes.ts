import { join } from "node:path";
import Database from "libsql";
import { routes } from "../../contract";
import { contentHash, findFiles } from "../../records/source";
import type { ObservedService } from "../engine/observed-service";
import type { TestDirectory } from "../records/test-directory";
import { fixed } from "./program";
import { readScenes, reads } from "./read-scenes";
import type { LocalStack } from "./runs";

/** Category that decides how a failed call is handled. */
export type Kind = "reads" | "changes" | "makes";

/** Step under a fault, and how often the service has executed it. */
export interface Act {
  act(): Promise<unknown>;
  done(): Promise<number> | number;
  /** Id of the created object for RECOMMENDER_ADOPT. */
  madeId?(): string;
}

/** Call of a lifecycle, and the step that sends it. */
export interface Scene {
  readonly call: string;
  readonly kind: Kind;
  /** Preparation without faults. */
  prepare(name: string): Promise<Act>;
}

/** Existing objects that the calls use. */
export interface World {
  readonly userDatasetId: string;
  readonly itemDatasetId: string;
  readonly eventDatasetId: string;
  readonly projectId: string;
  readonly algorithmId: string;
  readonly modelId: string;
  readonly jobId: string;
}

/** Creates datasets with records, a project, an algorithm and a trained model that is live. */
export async function makeWorld(observed: ObservedService): Promise<World> {
  const call = observed.call.bind(observed);
  const shape = { numShards: 1 };
  const { userDatasetId } = await call(routes.createUserDataset, { name: "users", ...shape });
  const { itemDatasetId } = await call(routes.createItemDataset, { name: "items", ...shape });
  const { eventDatasetId } = await call(routes.createEventDataset, { name: "events", ...shape });
  await observed.load({ users: userDatasetId, items: itemDatasetId, events: eventDatasetId });
  const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
  const project = { name: "shop", targetEventType: "purchase", ...datasets };
  const { projectId } = await call(routes.createProject, project);
  const algorithmParameters = { dimensions: 4, ...fixed };
  const { algorithmId } = await call(routes.createAlgorithm, { projectId, name: "g1", algorithmParameters });
  const { jobId } = await call(routes.submitTrainingJob, { projectId, algorithmId, name: "first" });
  await observed.service.idle();
  const modelId = (await call(routes.getJob, { projectId, jobId })).jobResult?.modelId as string;
  await call(routes.submitDeploymentJob, { projectId, name: "d", generatorModelId: modelId, qps: 1000 });
  await observed.service.idle();
  return { ...datasets, projectId, algorithmId, modelId, jobId };
}

/** All calls of the lifecycles, one scene for each. */
export function scenes(
  observed: ObservedService,
  stack: LocalStack,
  world: World,
  directory: TestDirectory,
): Scene[] {
  const database = new Database(join(observed.service.dataDir, "data.db"), { readonly: true });
  const count = (table: string, column: string, value: string) =>
    (database.prepare(`select count(*) n from ${table} where ${column} = ?`).get(value) as { n: number }).n;
  const lastIdIn = (table: string, name: string) =>
    (
      database.prepare(`select id from ${table} where name = ? order by rowid desc`).get(name) as {
        id: string;
      }
    ).id;
  const { projectId, algorithmId, modelId } = world;

  const made = (call: string, kind: Kind, type: string, table: string, args: object): Scene => ({
    call,
    kind,
    prepare: async (name) => {
      const act = {
        act: () => stack.up(type, name, { name, ...args }),
        done: () => count(table, "name", name),
      };
      return { ...act, madeId: () => lastIdIn(table, name) };
    },
  });
  /** Submission in an update, after a preparation that submits `before` jobs with the same name. */
  const redeployed = (type: "DeploymentJob" | "Deployment", args: object, before: number): Scene => ({
    call: "POST /submit-deployment-job",
    kind: "makes",
    async prepare(name) {
      await observed.call(routes.submitDeploymentJob, { name: "before", ...deployment });
      await observed.service.idle();
      await stack.up(type, name, { name, ...deployment, ...args });
      await observed.service.idle();
      return {
        act: () => stack.up(type, name, { name, ...deployment, ...args, qps: 900 }),
        done: () => count("jobs", "name", name) - before,
        madeId: () => lastIdIn("jobs", name),
      };
    },
  });
  const deployment = { projectId, generatorModelId: modelId, qps: 1000 };
  const query = { queryType: "user_distribution", queries: [{ attribute: "genre", value: "jazz", bins: 2 }] };

  const loaded = (kind: "user" | "item" | "event", datasetId: string, table: string): Scene => ({
    call: `POST /upsert-dataset-${kind}s`,
    kind: "changes",
    async prepare(name) {
      const event = { event_id: name, user_id: "u1", item_id: "i1", ts: 1, event_type: "view" };
      const row = kind === "event" ? event : { [`${kind}_id`]: name };
      const source = directory.write(`${name}.ndjson`, `${JSON.stringify(row)}\n`);
      const hash = await contentHash(await findFiles(source), {});
      const type = `${kind[0]?.toUpperCase()}${kind.slice(1)}Records`;
      const rejectsFile = join(directory.path, "rejects.ndjson");
      const args = { [`${kind}DatasetId`]: datasetId, source, contentHash: hash, numShards: 1, rejectsFile };
      return {
        act: () => stack.up(type, name, args),
        done: () => count(table, kind === "event" ? "event_id" : "record_id", name),
      };
    },
  });

  const train = async (name: string): Promise<string> => {
    const { jobId } = await observed.call(routes.submitTrainingJob, { projectId, algorithmId, name });
    await observed.service.idle();
    return (await observed.call(routes.getJob, { projectId, jobId })).jobResult?.modelId as string;
  };
  const serves = () =>
    observed.call(routes.recommendItemsToUser, { userId: "u1", limit: 1 }).then(
      () => 0,
      () => 1,
    );

  return [
    made("POST /create-user-dataset", "makes", "UserDataset", "datasets", { numShards: 1 }),
    made("POST /create-item-dataset", "makes", "ItemDataset", "datasets", { numShards: 1 }),
    made("POST /create-event-dataset", "makes", "EventDataset", "datasets", { numShards: 1 }),
    made("POST /create-project", "makes", "Project", "projects", {
      userDatasetId: world.userDatasetId,
      itemDatasetId: world.itemDatasetId,
      eventDatasetId: world.eventDatasetId,
      targetEventType: "purchase",
    }),
    made("POST /create-algorithm", "makes", "Algorithm", "algorithms", { projectId }),
    made("POST /submit-training-job", "makes", "TrainingJob", "jobs", { projectId, algorithmId }),
    made("POST /submit-deployment-job", "makes", "DeploymentJob", "jobs", deployment),
    redeployed("DeploymentJob", {}, 1),
    redeployed("Deployment", { existingId: projectId }, 0),
    made("POST /submit-querying-job", "makes", "QueryingJob", "jobs", { projectId, modelId, ...query }),
    made("POST /submit-clustering-job", "makes", "ClusteringJob", "jobs", {
      projectId,
      modelId,
      clusterType: "user",
      parameters: { minUserNum: 1 },
    }),
    loaded("user", world.userDatasetId, "records"),
    loaded("item", world.itemDatasetId, "records"),
    loaded("event", world.eventDatasetId, "events"),
    {
      call: "PUT /update-event-dataset",
      kind: "changes",
      async prepare(name) {
        const { id } = await stack.up("EventDataset", name, { name, numShards: 1 });
        const attributeSchema = { price: "NUMERICAL" };
        return {
          act: () => stack.up("EventDataset", name, { name, numShards: 1, attributeSchema }),
          done: async () => {
            const found = await observed.call(routes.getEventDataset, { eventDatasetId: id });
            return found.attributeSchema?.price === "NUMERICAL" ? 1 : 0;
          },
        };
      },
    },
    {
      call: "PUT /update-model",
      kind: "changes",
      async prepare(name) {
        return {
          // Adopted with a different name, which renames it.
          act: () => stack.up("Model", name, { name, projectId, existingId: modelId }),
          done: () => count("models", "name", name),
        };
      },
    },
    {
      call: "DELETE /delete-event-dataset",
      kind: "changes",
      async prepare(name) {
        await stack.up("EventDataset", name, { name, numShards: 1 });
        return {
          act: () => stack.destroy("EventDataset", name),
          done: async () => {
            const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
            return eventDatasets.some((dataset) => dataset.name === name) ? 0 : 1;
          },
        };
      },
    },
    {
      call: "DELETE /delete-model",
      kind: "changes",
      async prepare(name) {
        await stack.up("Model", name, { name, projectId, existingId: await train(name) });
        return { act: () => stack.destroy("Model", name), done: () => 1 - count("models", "name", name) };
      },
    },
    {
      call: "DELETE /shutdown-deployment",
      kind: "changes",
      async prepare(name) {
        await observed.call(routes.submitDeploymentJob, { name: "before", ...deployment });
        await observed.service.idle();
        await stack.up("Deployment", name, { name, ...deployment, existingId: projectId });
        return { act: () => stack.destroy("Deployment", name), done: serves };
      },
    },
    {
      call: "GET /list-event-datasets",
      kind: "reads",
      async prepare(name) {
        await stack.up("EventDataset", name, { name, numShards: 1 });
        return reads(() => stack.refresh("EventDataset", name));
      },
    },
    {
      call: "GET /get-event-dataset",
      kind: "reads",
      async prepare(name) {
        // Only an object that is not in the list is read separately.
        const { id } = await stack.up("EventDataset", name, { name, numShards: 1 });
        await observed.call(routes.deleteEventDataset, { eventDatasetId: id });
        return reads(async () => (await stack.refresh("EventDataset", name)) === undefined);
      },
    },
    {
      call: "GET /list-models",
      kind: "reads",
      async prepare(name) {
        await stack.up("Model", name, { name, projectId, existingId: modelId });
        return reads(() => stack.refresh("Model", name));
      },
    },
    {
      call: "GET /get-model",
      kind: "reads",
      async prepare(name) {
        const args = { name, projectId, algorithmId, submittedJobId: world.jobId };
        return reads(async () => (await stack.up("Model", name, args)).id === modelId);
      },
    },
    {
      call: "GET /get-job",
      kind: "reads",
      async prepare(name) {
        const submitted = { name, projectId, modelId, ...query };
        const job = await stack.up("QueryingJob", name, submitted);
        return reads(() => stack.up("UserQuery", name, { ...submitted, submittedJobId: job.id }));
      },
    },
    {
      call: "POST /recommend-items-to-user",
      kind: "reads",
      async prepare(name) {
        await observed.call(routes.submitDeploymentJob, { name: "before", ...deployment });
        await observed.service.idle();
        const check = { userIds: ["u1"], minResults: 1 };
        return reads(() =>
          stack.up("Deployment", name, { name, ...deployment, check, existingId: projectId }),
        );
      },
    },
    ...readScenes(observed, stack, world, directory),
  ];
}
