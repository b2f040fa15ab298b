import { z } from "zod";
import { id, jsonMap, label, maybe, recordId } from "./field";
import { quality } from "./job";
import { route } from "./route";

const modelName = "Display name of the model.";
const model = z.object({
  projectId: maybe(z.string()).describe("Id of the project."),
  modelId: id.describe("Id of the model."),
  name: maybe(z.string()).describe(modelName),
  algorithmType: maybe(z.string()).describe("Type of the algorithm that trained the model."),
  algorithmParameters: maybe(jsonMap).describe("Parameters of the training."),
  // The specification does not define the unit. The service in this package uses milliseconds, as for events.
  createdTs: maybe(z.int()).describe(
    "When the model was created, in milliseconds since 1970. Other services may use another unit.",
  ),
  quality: maybe(quality).describe(
    "Quality measured by the training, if the service reports it (extension).",
  ),
});
const projectId = recordId.describe("Id of the project.");
const modelRef = z.strictObject({ projectId, modelId: recordId.describe("Id of the model.") });

export const updateModel = route({
  method: "PUT",
  path: "/update-model",
  summary: "Renames a model. Nothing else can be changed.",
  request: modelRef.extend({ name: label.describe(modelName) }),
  reply: model,
});

export const getModel = route({
  method: "GET",
  path: "/get-model",
  summary: "Reads a model.",
  request: modelRef,
  reply: model,
});

export const listModels = route({
  method: "GET",
  path: "/list-models",
  summary: "Lists the trained models of a project.",
  request: z.strictObject({ projectId }),
  reply: z.object({ models: z.array(model).describe("The models of the project.") }),
});

export const countModelEvents = route({
  method: "GET",
  path: "/count-model-events",
  summary: "Counts the events of a model's project, and those since the model was trained (extension).",
  extension: true,
  request: modelRef,
  reply: z.object({
    projectId: id,
    modelId: id,
    createdTs: maybe(z.int()).describe("When the model was created, in milliseconds since 1970."),
    eventCount: z.int().describe("Number of events in the event dataset of the project."),
    newEventCount: maybe(z.int()).describe(
      "Number of events that were written after the training had read the dataset. Null if it is unknown.",
    ),
  }),
});

export const deleteModel = route({
  method: "DELETE",
  path: "/delete-model",
  summary: "Deletes a model that is not deployed, and returns the deleted model.",
  request: modelRef,
  reply: model,
});
