import { limits } from "../../contract";
import { newId } from "../base/id";
import type { Db } from "./database";
import type { JobTable, JobType } from "./tables";

/** Puts a job at the end of the queue. */
export async function enqueue(
  db: Db,
  job: { projectId: string; jobType: JobType; name: string; data: object; now: number },
): Promise<string> {
  const { last } = await db
    .selectFrom("jobs")
    .select((of) => of.fn.max<number | null>("number").as("last"))
    .executeTakeFirstOrThrow();
  const id = newId("job");
  await db
    .insertInto("jobs")
    .values({
      number: (last ?? 0) + 1,
      id,
      project_id: job.projectId,
      job_type: job.jobType,
      name: job.name,
      data: JSON.stringify(job.data),
      result: null,
      status: "PENDING",
      retry_count: 0,
      created_ts: job.now,
      finished_ts: null,
      due_ts: 0,
    })
    .execute();
  return id;
}

/** Takes the oldest job of one of the kinds whose turn it is. */
export async function take(db: Db, kinds: readonly JobType[], now: number): Promise<JobTable | undefined> {
  const job = await db
    .selectFrom("jobs")
    .selectAll()
    .where("status", "=", "PENDING")
    .where("finished_ts", "is", null)
    .where("job_type", "in", kinds)
    .where("due_ts", "<=", now)
    .orderBy("number")
    .limit(1)
    .executeTakeFirst();
  if (!job) return undefined;
  await db.updateTable("jobs").set({ status: "RUNNING" }).where("number", "=", job.number).execute();
  return { ...job, status: "RUNNING" };
}

/** Ends a job that has succeeded. */
export async function succeed(
  db: Db,
  job: JobTable,
  end: { data?: object; result: object; now: number },
): Promise<void> {
  const data = end.data ? JSON.stringify({ ...JSON.parse(job.data), ...end.data }) : job.data;
  await db
    .updateTable("jobs")
    .set({ status: "SUCCEED", data, result: JSON.stringify(end.result), finished_ts: end.now })
    .where("number", "=", job.number)
    .execute();
}

/** Puts a job back for another try, or ends it when its tries are used up or another would be of no use. */
export async function fail(
  db: Db,
  job: JobTable,
  end: { message: string; final: boolean; now: number; dueTs: number },
): Promise<boolean> {
  const again = !end.final && job.retry_count < limits.jobRetries;
  await db
    .updateTable("jobs")
    .set(
      again
        ? { status: "PENDING", retry_count: job.retry_count + 1, due_ts: end.dueTs }
        : { status: "FAILED", result: JSON.stringify({ message: end.message }), finished_ts: end.now },
    )
    .where("number", "=", job.number)
    .execute();
  return again;
}

/** Puts a job back that the service itself interrupts, which is no failure of the job. */
export async function putBack(db: Db, job: JobTable): Promise<void> {
  await db.updateTable("jobs").set({ status: "PENDING" }).where("number", "=", job.number).execute();
}

/** Puts the jobs that a killed process was running back into the queue; each time counts as a retry. */
export async function recover(db: Db, now: number): Promise<void> {
  const left = await db
    .selectFrom("jobs")
    .selectAll()
    .where("status", "=", "RUNNING")
    .where("finished_ts", "is", null)
    .execute();
  for (const job of left) {
    const message = `The service was killed ${job.retry_count + 1} times while the job ran; submit it again.`;
    await fail(db, job, { message, final: false, now, dueTs: now });
  }
}
