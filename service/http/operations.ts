import type { ServerContext } from "./context";

/**
 * Whether the service can do its work: its store is there, and the models of all deployments are in memory, which a
 * worker does without. One that was ready stays so while a new deployment loads, for it answers all other calls.
 */
export async function readiness({ store, serving, log, role }: ServerContext): Promise<{
  readonly ready: boolean;
  readonly store: "reachable" | "not reachable";
  readonly deployments_to_load?: number;
}> {
  try {
    const deployments = await store.db.selectFrom("deployments").select("project_id").execute();
    const missing = deployments.filter(
      ({ project_id }) => role !== "worker" && !serving.isLoaded(project_id),
    ).length;
    serving.wasReady ||= missing === 0;
    return { ready: serving.wasReady, store: "reachable", deployments_to_load: missing };
  } catch (error) {
    log.error({ err: error }, "not ready");
    return { ready: false, store: "not reachable" };
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
  const deployments = await store.db.selectFrom("deployments").select("project_id").execute();
  const loaded = deployments.filter(({ project_id }) => serving.isLoaded(project_id)).length;
  metrics.deployments.set({ loaded: "true" }, loaded);
  metrics.deployments.set({ loaded: "false" }, deployments.length - loaded);
  return metrics.text();
}
