import { isReadOnly } from "../store/postgres-errors";
import type { ServerContext } from "./context";

/**
 * Returns whether this process is ready: it can reach the database and, except for a worker, has loaded all
 * deployments.
 *
 * A process that was ready stays ready while a later deployment loads or fails to load. It does not wait for missing or
 * damaged models. Otherwise, one such model would make every API process unready, and nobody could deploy another
 * model. `deployments_to_load`, the metric and the log report such models.
 */
export async function readiness({ store, serving, log, role }: ServerContext) {
  try {
    const { toLoad, unanswered } = await deploymentsIn({ store, serving });
    const missing = role === "worker" ? 0 : toLoad;
    serving.wasReady ||= role === "worker" || unanswered === 0;
    // With a full disk, the service can still recommend items.
    const state = store.isFull() ? "full" : "reachable";
    return { ready: serving.wasReady, store: state, deployments_to_load: missing };
  } catch (error) {
    log.error({ err: error }, "not ready");
    return { ready: false, store: isReadOnly(error) ? "read-only" : "not reachable" };
  }
}

/** Returns the metrics, including the current queue and deployments. */
export async function measure({ store, serving, metrics, role }: ServerContext): Promise<string> {
  const jobs = await store.db
    .selectFrom("jobs")
    .select((of) => ["job_type", "status", of.fn.countAll<number>().as("count")])
    .where("finished_ts", "is", null)
    .groupBy(["job_type", "status"])
    .execute();
  metrics.queue.reset();
  for (const { job_type, status, count } of jobs)
    metrics.queue.set({ type: job_type, status }, Number(count));
  if (role === "worker") return metrics.text();
  const { loaded, toLoad } = await deploymentsIn({ store, serving });
  metrics.deployments.set({ loaded: "true" }, loaded);
  metrics.deployments.set({ loaded: "false" }, toLoad);
  return metrics.text();
}

/**
 * Counts the projects whose latest deployment is loaded, those whose latest deployment is not loaded, and those for
 * which no deployment at all is loaded yet.
 */
async function deploymentsIn({ store, serving }: Pick<ServerContext, "store" | "serving">) {
  const rows = await store.db.selectFrom("deployments").select(["project_id", "job_id"]).execute();
  const loaded = rows.filter(({ project_id, job_id }) => serving.isLoaded(project_id, job_id)).length;
  const unanswered = rows.filter(
    ({ project_id }) => !serving.isLoaded(project_id) && !serving.isUnusable(project_id),
  ).length;
  return { loaded, toLoad: rows.length - loaded, unanswered };
}
