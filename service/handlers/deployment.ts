import { ServiceError } from "../base/error";
import { projectOf } from "../store/find";
import { signal } from "../store/signals";
import type { Handlers } from "./handler";

/** The operation that ends a deployment; a job begins it. */
export const deploymentHandlers: Handlers<"shutdownDeployment"> = {
  shutdownDeployment: async ({ projectId }, call) => {
    const reply = await call.write(async (db) => {
      await projectOf(db, projectId);
      const { numDeletedRows } = await db
        .deleteFrom("deployments")
        .where("project_id", "=", projectId)
        .executeTakeFirstOrThrow();
      if (Number(numDeletedRows) === 0) {
        throw new ServiceError(
          "NOT_DEPLOYED",
          `No model is deployed in project ${projectId}, so there is nothing to shut down.`,
        );
      }
      await signal(db, "deployments");
      return { projectId };
    });
    call.serving.remove(projectId);
    return reply;
  },
};
