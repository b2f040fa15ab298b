import { z } from "zod";
import { maybe, recordId } from "./field";
import { route } from "./route";

export const shutdownDeployment = route({
  method: "DELETE",
  path: "/shutdown-deployment",
  summary: "Shuts down the deployment of a project.",
  request: z.strictObject({ projectId: recordId }),
  reply: z.object({ projectId: maybe(z.string()) }),
});
