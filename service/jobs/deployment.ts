import { JobError } from "../base/job-error";
import { succeed } from "../store/queue";
import type { DeploymentTable, JobTable } from "../store/tables";
import type { JobContext } from "./context";

/** Puts the models of a job into service: prepared off the API's thread, then exchanged for the former ones at once. */
export async function runDeployment(job: JobTable, { store, serving, clock }: JobContext): Promise<void> {
  const data = JSON.parse(job.data) as {
    generatorModelId: string;
    rankerModelId: string | null;
    qps: number;
  };
  const row: DeploymentTable = {
    project_id: job.project_id,
    job_id: job.id,
    generator_model_id: data.generatorModelId,
    ranker_model_id: data.rankerModelId,
    qps: data.qps,
  };
  const prepared = await serving.prepare(row);
  try {
    await store.transaction(async (db) => {
      const wanted = [row.generator_model_id, ...(row.ranker_model_id === null ? [] : [row.ranker_model_id])];
      const there = await db.selectFrom("models").select("id").where("id", "in", wanted).execute();
      const gone = wanted.find((id) => !there.some((model) => model.id === id));
      if (gone)
        throw new JobError(`The model ${gone} was deleted before it was deployed; deploy another one.`);
      await db
        .insertInto("deployments")
        .values(row)
        .onConflict((on) => on.column("project_id").doUpdateSet(row))
        .execute();
      await succeed(db, job, { result: {}, now: clock.now() });
    });
  } catch (error) {
    serving.discard(prepared);
    throw error;
  }
  serving.install(row, prepared);
}
