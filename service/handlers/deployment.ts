import type { FullReply, routes } from "../../contract";
import { ServiceError } from "../base/error";
import { notDeployed } from "../serving/deployed-context";
import { projectOf } from "../store/find";
import { endUnfinished } from "../store/queue";
import { signal } from "../store/signals";
import type { Handlers } from "./handler";

type Live = FullReply<(typeof routes)["getDeployment"]>;

const message = "The project was shut down before this deployment finished. Submit the job again to deploy.";

/** Operations on deployments. A job creates a deployment. A shutdown ends it, and all unfinished deployment jobs. */
export const deploymentHandlers: Handlers<"shutdownDeployment" | "getDeployment"> = {
  getDeployment: async ({ projectId }, { db, addresses }) => {
    await projectOf(db, projectId);
    const row = await db
      .selectFrom("deployments")
      .selectAll()
      .where("project_id", "=", projectId)
      .executeTakeFirst();
    if (!row) throw notDeployed(projectId);
    const rules: Live["rules"] = row.rules === null ? null : JSON.parse(row.rules);
    return {
      projectId,
      jobId: row.job_id,
      generatorModelId: row.generator_model_id,
      rankerModelId: row.ranker_model_id,
      qps: row.qps,
      rules,
      servingUri: addresses.servingUri(projectId),
    };
  },

  shutdownDeployment: async ({ projectId }, call) => {
    const reply = await call.write(async (db) => {
      await projectOf(db, projectId);
      const { numDeletedRows } = await db
        .deleteFrom("deployments")
        .where("project_id", "=", projectId)
        .executeTakeFirstOrThrow();
      const ended = await endUnfinished(db, {
        projectId,
        jobType: "DEPLOYMENT",
        message,
        now: call.clock.now(),
      });
      if (Number(numDeletedRows) === 0 && ended === 0) {
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
