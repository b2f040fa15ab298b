import { z } from "zod";
import { id, maybe } from "./field";
import { route } from "./route";

export const shutdownDeployment = route({
  method: "DELETE",
  path: "/shutdown-deployment",
  summary: "Shuts down the deployment of a project.",
  request: z.strictObject({ projectId: id }),
  reply: z.object({ projectId: maybe(z.string()) }),
});
