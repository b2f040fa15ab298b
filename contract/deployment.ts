import { z } from "zod";
import { id, maybe, recordId } from "./field";
import { route } from "./route";
import { rules } from "./rules";

export const shutdownDeployment = route({
  method: "DELETE",
  path: "/shutdown-deployment",
  summary: "Shuts down the deployment of a project.",
  request: z.strictObject({ projectId: recordId }),
  reply: z.object({ projectId: id }),
});

export const getDeployment = route({
  method: "GET",
  path: "/get-deployment",
  summary: "Reads which models are live in a project (extension).",
  extension: true,
  request: z.strictObject({ projectId: recordId }),
  reply: z.object({
    projectId: id,
    jobId: id.describe("The deployment job that deployed the models."),
    generatorModelId: id,
    rankerModelId: maybe(id),
    qps: maybe(z.int()),
    rules: maybe(rules),
    servingUri: maybe(z.string()),
  }),
});
