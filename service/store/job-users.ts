import type { Db } from "./database";

/** Users per statement, because SQLite limits the number of parameters. */
const usersPerInsert = 500;

/** Stores the users that a job is limited to. They are in a separate table, so they can be forgotten. */
export async function addJobUsers(db: Db, jobId: string, userIds: readonly string[]): Promise<void> {
  const rows = [...new Set(userIds)].map((user_id) => ({ job_id: jobId, user_id }));
  for (let from = 0; from < rows.length; from += usersPerInsert)
    await db
      .insertInto("job_users")
      .values(rows.slice(from, from + usersPerInsert))
      .execute();
}

/** Returns the users that a job is limited to, without forgotten ones. */
export async function jobUsersOf(db: Db, jobId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("job_users")
    .select("user_id")
    .where("job_id", "=", jobId)
    .orderBy("user_id")
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Removes a user from the jobs of all projects that use an event dataset. */
export async function forgetInJobs(db: Db, eventDatasetId: string, userId: string): Promise<void> {
  const jobs = db
    .selectFrom("jobs")
    .innerJoin("projects", "projects.id", "jobs.project_id")
    .select("jobs.id")
    .where("projects.event_dataset_id", "=", eventDatasetId);
  await db.deleteFrom("job_users").where("user_id", "=", userId).where("job_id", "in", jobs).execute();
}

/** Deletes the users of all jobs of a project. */
export async function dropJobUsersOf(db: Db, projectId: string): Promise<void> {
  const jobs = db.selectFrom("jobs").select("id").where("project_id", "=", projectId);
  await db.deleteFrom("job_users").where("job_id", "in", jobs).execute();
}

/** Deletes the users of jobs that no longer exist. */
export async function dropJobUsers(db: Db): Promise<void> {
  await db.deleteFrom("job_users").where("job_id", "not in", db.selectFrom("jobs").select("id")).execute();
}
