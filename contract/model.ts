import { z } from "zod";
import { id, jsonMap, label, maybe } from "./field";
import { route } from "./route";

const model = z.object({
  projectId: maybe(z.string()),
  modelId: id,
  name: maybe(z.string()),
  algorithmType: maybe(z.string()),
  algorithmParameters: maybe(jsonMap),
  // The specification shows no unit; our own service answers milliseconds, as events do.
  createdTs: maybe(z.int()),
});
const modelRef = z.strictObject({ projectId: id, modelId: id });

export const updateModel = route({
  method: "PUT",
  path: "/update-model",
  summary: "Renames a model; nothing else can be changed.",
  request: modelRef.extend({ name: label.describe("Name of the model, for people only.") }),
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
  request: z.strictObject({ projectId: id }),
  reply: z.object({ models: z.array(model) }),
});

export const deleteModel = route({
  method: "DELETE",
  path: "/delete-model",
  summary: "Deletes a model that is not deployed; returns what it was.",
  request: modelRef,
  // The model is gone whatever the answer holds, so nothing in it is needed.
  reply: model.partial(),
});
