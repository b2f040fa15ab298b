import type { Api } from "./api";
import type { WireEvent } from "./events";
import { upload, upsertBodies } from "./upload";

/** The number of users and items in the events. */
export interface Shape {
  readonly users: number;
  readonly items: number;
  /** Shards of the user dataset. Default: one, for 100,000 users. */
  readonly userShards?: number;
}

/** Creates an event dataset and uploads the events. Returns its id and the seconds of the upload. */
export async function uploaded(api: Api, events: readonly WireEvent[]) {
  const { event_dataset_id } = await api.call("/create-event-dataset", {
    name: "events",
    num_shards: 20,
  });
  const datasetId = event_dataset_id as string;
  const bodies = upsertBodies(
    datasetId,
    events.map((event) => JSON.stringify(event)),
  );
  return { datasetId, seconds: await upload(api, bodies) };
}

/** A project whose jobs are measured. */
export class Project {
  private constructor(
    private readonly api: Api,
    readonly id: unknown,
    readonly userDatasetId: unknown,
  ) {}

  static async create(
    api: Api,
    eventDatasetId: string,
    { items: count, userShards = 1 }: Shape,
    attributesOf: (item: number) => object = (item) => ({ genre: [`g${item % 18}`], title: `Title ${item}` }),
  ): Promise<Project> {
    const { user_dataset_id } = await api.call("/create-user-dataset", {
      name: "users",
      num_shards: userShards,
    });
    const { item_dataset_id } = await api.call("/create-item-dataset", {
      name: "items",
      num_shards: 1,
    });
    const items = Array.from({ length: count }, (_, item) => ({
      item_id: `i${item}`,
      attributes: attributesOf(item),
    }));
    for (let from = 0; from < items.length; from += 1000) {
      await api.call("/upsert-dataset-items", {
        item_dataset_id,
        items: items.slice(from, from + 1000),
      });
    }
    const { project_id } = await api.call("/create-project", {
      name: "bench",
      project_type: "RECOMMEND_ITEMS_TO_USER",
      user_dataset_id,
      item_dataset_id,
      event_dataset_id: eventDatasetId,
      target_event_type: "watch",
    });
    return new Project(api, project_id, user_dataset_id);
  }

  /** Creates an algorithm with these parameters. */
  async algorithm(parameters: object): Promise<unknown> {
    const { algorithm_id } = await this.api.call("/create-algorithm", {
      project_id: this.id,
      name: `g1 ${JSON.stringify(parameters)}`,
      algorithm_type: "G1",
      algorithm_parameters: parameters,
    });
    return algorithm_id;
  }

  /** Trains a model and waits for it. Returns the model id and the job. */
  async train(algorithmId: unknown, pauseMs?: number) {
    const request = { project_id: this.id, algorithm_id: algorithmId, name: "m" };
    const { result, data, seconds } = await this.api.job(
      this.id,
      await this.api.call("/submit-training-job", request),
      pauseMs,
    );
    return { modelId: (result as { model_id: string }).model_id, data, seconds };
  }

  /** Deploys a model. Returns its serving address. */
  async deploy(modelId: string) {
    const request = { project_id: this.id, name: "d", generator_model_id: modelId, qps: 1_000_000 };
    const { result, seconds } = await this.api.job(
      this.id,
      await this.api.call("/submit-deployment-job", request),
    );
    return { servingUri: (result as { serving_uri: string }).serving_uri, seconds };
  }
}
