import type { Rules } from "../../contract";
import { type Origin, stableAddress } from "../../contract/origin";
import { tracedPart } from "../../telemetry/tracing";
import { JobError } from "../base/job-error";
import type { Db } from "../store/database";
import { succeed } from "../store/queue";
import { signal } from "../store/signals";
import type { DeploymentTable, Job } from "../store/tables";
import type { JobContext } from "./context";
import { endWithSuccess } from "./ending";

/** Loads the models of a deployment job in a thread, then makes them the live deployment of the project. */
export async function runDeployment(job: Job, context: JobContext, lost: AbortSignal): Promise<void> {
  const { serving, clock } = context;
  const data = JSON.parse(job.data) as {
    generatorModelId: string;
    rankerModelId: string | null;
    qps: number;
    rules?: Rules;
    origin?: Origin;
  };
  const address = data.origin && stableAddress(data.origin);
  const row: DeploymentTable = {
    project_id: job.project_id,
    job_id: job.id,
    generator_model_id: data.generatorModelId,
    ranker_model_id: data.rankerModelId,
    qps: data.qps,
    rules: data.rules ? JSON.stringify(data.rules) : null,
  };
  const prepared = await tracedPart({ name: "phase load" }, () => serving.prepare(row, lost));
  try {
    const isLast = await endWithSuccess(job, context, lost, async (db) => {
      const modelIds = [
        row.generator_model_id,
        ...(row.ranker_model_id === null ? [] : [row.ranker_model_id]),
      ];
      const existing = await db.selectFrom("models").select("id").where("id", "in", modelIds).execute();
      const gone = modelIds.find((id) => !existing.some((model) => model.id === id));
      if (gone)
        throw new JobError(`The model ${gone} was deleted before it was deployed. Deploy another model.`);
      const isLast = await isNewest(db, job);
      if (isLast)
        await db
          .insertInto("deployments")
          .values(row)
          .onConflict((on) => on.column("project_id").doUpdateSet(row))
          .execute();
      if (isLast && address !== undefined) await pointAddress(db, address, job);
      await succeed(db, job, { result: {}, now: clock.now() });
      await signal(db, "deployments");
      return isLast;
    });
    // If the commit was in doubt, `isLast` is undefined, and the next sync loads the deployment from the database.
    if (isLast) serving.install(row, prepared, address);
    else prepared.close();
  } catch (error) {
    prepared.close();
    throw error;
  }
}

/** Makes a stable address point to the job's project, unless a job that was submitted later has set the address. */
async function pointAddress(db: Db, address: string, { number, project_id }: Job): Promise<void> {
  const row = { address, project_id, job_number: number };
  await db
    .insertInto("stable_addresses")
    .values(row)
    .onConflict((on) =>
      on.column("address").doUpdateSet(row).where("stable_addresses.job_number", "<", number),
    )
    .execute();
}

/** Returns false if a deployment job that was submitted later has already succeeded. */
async function isNewest(db: Db, job: Job): Promise<boolean> {
  const newer = await db
    .selectFrom("jobs")
    .select("number")
    .where("project_id", "=", job.project_id)
    .where("job_type", "=", "DEPLOYMENT")
    .where("status", "=", "SUCCEED")
    .where("number", ">", job.number)
    .executeTakeFirst();
  return newer === undefined;
}
