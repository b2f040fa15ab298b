import type { Db } from "./database";
import type { Job, Model } from "./tables";

/** The columns of a training job that describe the model it trained. */
type Training = Pick<Job, "id" | "data" | "result" | "created_ts" | "finished_ts">;

/** Maximum time between a model's creation and the end of its training job. One transaction writes both. */
const clockSkewMs = 60_000;

/** Finds the training job of each model, by the model's id. A model row does not name its job. */
export async function trainingsOf(db: Db, models: readonly Model[]): Promise<Map<string, Training>> {
  if (models.length === 0) return new Map();
  const created = models.map(({ created_ts }) => created_ts);
  const first = created.reduce((one, other) => Math.min(one, other));
  const last = created.reduce((one, other) => Math.max(one, other));
  const jobs = await db
    .selectFrom("jobs")
    .select(["id", "data", "result", "created_ts", "finished_ts"])
    .where("project_id", "in", [...new Set(models.map(({ project_id }) => project_id))])
    .where("job_type", "=", "TRAINING")
    .where("status", "=", "SUCCEED")
    .where("finished_ts", ">=", first - clockSkewMs)
    .where("finished_ts", "<=", last + clockSkewMs)
    .execute();
  return new Map(
    jobs.map((job) => [(JSON.parse(job.result ?? "{}") as { modelId?: string }).modelId ?? "", job]),
  );
}
