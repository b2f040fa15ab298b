import { join } from "node:path";
import { routes } from "../../contract";
import { contentHash, findFiles } from "../../records/source";
import type { ObservedService } from "../engine/observed-service";
import type { TestDirectory } from "../records/test-directory";
import type { LocalStack } from "./runs";
import type { Act, Scene, World } from "./scenes";

/** A read is complete when it returns a state. */
export function reads(read: () => Promise<unknown>): Act {
  let found: unknown;
  return {
    act: async () => {
      found = await read();
    },
    done: () => (found ? 1 : 0),
  };
}

/** Extensions of the API that a refresh uses, one scene for each. */
export function readScenes(
  observed: ObservedService,
  stack: LocalStack,
  world: World,
  directory: TestDirectory,
): Scene[] {
  const { projectId, userDatasetId, itemDatasetId, eventDatasetId, modelId } = world;
  const scene = (call: string, type: string, args: (name: string) => Promise<object> | object): Scene => ({
    call,
    kind: "reads",
    async prepare(name) {
      await stack.up(type, name, { name, ...(await args(name)) });
      return reads(() => stack.refresh(type, name));
    },
  });
  const ofProject = { userDatasetId, itemDatasetId, eventDatasetId, targetEventType: "purchase" };
  return [
    scene("GET /get-user-dataset", "UserDataset", () => ({ numShards: 1 })),
    scene("GET /get-item-dataset", "ItemDataset", () => ({ numShards: 1 })),
    scene("GET /get-project", "Project", () => ofProject),
    scene("GET /get-algorithm", "Algorithm", () => ({ projectId })),
    scene("GET /get-deployment", "Deployment", async () => {
      const deployment = { projectId, generatorModelId: modelId, qps: 1000 };
      await observed.call(routes.submitDeploymentJob, { name: "before", ...deployment });
      await observed.service.idle();
      return { ...deployment, existingId: projectId };
    }),
    scene("GET /count-dataset-records", "UserRecords", async (name) => {
      const source = directory.write(`${name}.ndjson`, `${JSON.stringify({ user_id: name })}\n`);
      return {
        name: undefined,
        ...{ userDatasetId, source, contentHash: await contentHash(await findFiles(source), {}) },
        ...{ numShards: 1, rejectsFile: join(directory.path, "rejects.ndjson") },
      };
    }),
  ];
}
