import { z } from "zod";
import { id, jsonMap, label, maybe, recordId } from "./field";
import { quality } from "./job";
import { route } from "./route";

const modelName = "Name of the model, for people only.";
const model = z.object({
  projectId: maybe(z.string()).describe("Id of its project."),
  modelId: id.describe("Id of the model."),
  name: maybe(z.string()).describe(modelName),
  algorithmType: maybe(z.string()).describe("Kind of the algorithm that it was trained with."),
  algorithmParameters: maybe(jsonMap).describe("The parameters it was trained with."),
  // The specification shows no unit; our own service answers milliseconds, as events do.
  createdTs: maybe(z.int()).describe(
    "When it was created, in milliseconds since 1970; another service may have another unit.",
  ),
  quality: maybe(quality).describe(
    "What its training measured, if the service reports it; beyond the specification.",
  ),
});
const projectId = recordId.describe("Id of the project.");
const modelRef = z.strictObject({ projectId, modelId: recordId.describe("Id of the model.") });

export const updateModel = route({
  method: "PUT",
  path: "/update-model",
  summary: "Renames a model; nothing else can be changed.",
  request: modelRef.extend({ name: label.describe(modelName) }),
  reply: model,
});

export const getModel = route({
  method: "GET",
  path: "/get-model",
  summary: "Reads one model.",
  request: modelRef,
  reply: model,
});

export const listModels = route({
  method: "GET",
  path: "/list-models",
  summary: "Lists the trained models of a project.",
  request: z.strictObject({ projectId }),
  reply: z.object({ models: z.array(model).describe("The models that there are at the moment.") }),
});

export const deleteModel = route({
  method: "DELETE",
  path: "/delete-model",
  summary: "Deletes a model that is not deployed; returns what it was.",
  request: modelRef,
  // The model is gone whatever the answer holds, so nothing in it is needed.
  reply: model.partial(),
});
