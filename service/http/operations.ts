import { isReadOnly } from "../store/postgres-errors";
import type { ServerContext } from "./context";

/**
 * Whether the service can do its work: its store is there, and the models of all deployments are in memory, which a
 * worker does without. One that was ready stays so while a later deployment loads or cannot be loaded, and a model that
 * is gone or damaged is not waited for: it would keep every API from being ready, so that no project was answered and
 * nobody could deploy another; `deployments_to_load`, the metric and the log tell of it instead.
 */
export async function readiness({ store, serving, log, role }: ServerContext): Promise<{
  readonly ready: boolean;
  readonly store: "reachable" | "full" | "read-only" | "not reachable";
  readonly deployments_to_load?: number;
}> {
  try {
    const { toLoad, unanswered } = await deploymentsIn({ store, serving });
    const missing = role === "worker" ? 0 : toLoad;
    serving.wasReady ||= role === "worker" || unanswered === 0;
    // With a full disk, recommendations are still answered.
    const state = store.isFull() ? "full" : "reachable";
    return { ready: serving.wasReady, store: state, deployments_to_load: missing };
  } catch (error) {
    log.error({ err: error }, "not ready");
    return { ready: false, store: isReadOnly(error) ? "read-only" : "not reachable" };
  }
}

/** The metrics, with the queue and the deployments as they are now. */
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

/** How many projects are answered with what was deployed last, how many are not yet, and how many of these not at all. */
async function deploymentsIn({ store, serving }: Pick<ServerContext, "store" | "serving">) {
  const rows = await store.db.selectFrom("deployments").select(["project_id", "job_id"]).execute();
  const loaded = rows.filter(({ project_id, job_id }) => serving.isLoaded(project_id, job_id)).length;
  const unanswered = rows.filter(
    ({ project_id }) => !serving.isLoaded(project_id) && !serving.isUnusable(project_id),
  ).length;
  return { loaded, toLoad: rows.length - loaded, unanswered };
}
