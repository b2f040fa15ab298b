import type { Client } from "../../client/client";
import { routes } from "../../contract";
import type { Held, Kind } from "./rows";

/** Changes outside the program. */
export type Meddling = "deleteEvents" | "renameEvents" | "shutDown" | "deleteModel";

/** Kinds that must be created again afterwards. */
export const undone: Readonly<Partial<Record<Meddling, Kind>>> = {
  deleteEvents: "EventDataset",
  deleteModel: "TrainingJob",
  shutDown: "DeploymentJob",
};

/** Changes an object of a stack in the service, if it exists. */
export async function meddle(what: Meddling, held: readonly Held[], client: Client): Promise<void> {
  const at = (kind: Kind) => held.find((resource) => resource.kind === kind);
  const [events, project, model] = [at("EventDataset"), at("Project"), at("Model")];
  const quietly = (call: Promise<unknown>) => call.catch(() => undefined);
  if (what === "deleteEvents" && events)
    await quietly(client.call(routes.deleteEventDataset, { eventDatasetId: events.id }));
  if (what === "renameEvents" && events) {
    const renamed = { eventDatasetId: events.id, name: "other", attributeSchema: null };
    await quietly(client.call(routes.updateEventDataset, renamed));
  }
  if (what === "shutDown" && project)
    await quietly(client.call(routes.shutdownDeployment, { projectId: project.id }));
  if (what === "deleteModel" && model) {
    const projectId = model.state.projectId as string;
    await quietly(client.call(routes.shutdownDeployment, { projectId }));
    await quietly(client.call(routes.deleteModel, { projectId, modelId: model.id }));
  }
}
