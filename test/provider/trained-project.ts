import { routes } from "../../contract";
import type { ObservedService } from "../engine/observed-service";
import { fixed } from "../faults/program";

/** Project with two models, each from a separate training. */
export async function trainedProject(
  observed: ObservedService,
): Promise<{ projectId: string; algorithmId: string; models: [string, string] }> {
  const dataset = { numShards: 1 };
  const { userDatasetId } = await observed.call(routes.createUserDataset, { name: "users", ...dataset });
  const { itemDatasetId } = await observed.call(routes.createItemDataset, { name: "items", ...dataset });
  const { eventDatasetId } = await observed.call(routes.createEventDataset, { name: "events", ...dataset });
  const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
  await observed.load({ users: userDatasetId, items: itemDatasetId, events: eventDatasetId });
  const { projectId } = await observed.call(routes.createProject, {
    name: "p",
    targetEventType: "purchase",
    ...datasets,
  });
  const algorithmParameters = { dimensions: 8, ...fixed };
  const { algorithmId } = await observed.call(routes.createAlgorithm, {
    projectId,
    name: "g1",
    algorithmParameters,
  });
  const jobs = [1, 2].map((n) =>
    observed.call(routes.submitTrainingJob, { projectId, algorithmId, name: `m${n}` }),
  );
  await Promise.all(jobs);
  await observed.service.idle();
  const list = await observed.call(routes.listModels, { projectId });
  const models = list.models.map(({ modelId }) => modelId) as [string, string];
  return { projectId, algorithmId, models };
}
