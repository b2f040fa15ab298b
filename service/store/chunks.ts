import { LostLeaseError } from "../base/job-error";
import type { Db } from "./database";
import type { Job } from "./tables";

/** A part of the result of a recommendation job, in a separate file. An interrupted job continues after the last one. */
export interface Chunk {
  /** The first chunk is 0. */
  readonly number: number;
  /** The attempt of the job that wrote the file. */
  readonly attempt: number;
  /** Number of users in the file. */
  readonly users: number;
  /** The event dataset's count of deletions before the users and their events were read. */
  readonly deletions: number;
}

/** Records that a chunk is complete. Throws `LostLeaseError` if another attempt owns the job. */
export async function addChunk(
  db: Db,
  { id, attempt }: Pick<Job, "id" | "attempt">,
  chunk: Chunk,
): Promise<void> {
  const owned = await db
    .selectFrom("jobs")
    .select("id")
    .where("id", "=", id)
    .where("status", "=", "RUNNING")
    .where("attempt", "=", attempt)
    .executeTakeFirst();
  if (!owned) throw new LostLeaseError("another process has taken over the job, or the job has ended");
  // If another process takes over the job now, it writes a chunk with the same number, and one of them is rejected.
  await db
    .insertInto("job_chunks")
    .values({ job_id: id, ...chunk })
    .execute();
}

/** Returns the complete chunks of a job in their order. */
export function chunksOf(db: Db, jobId: string): Promise<Chunk[]> {
  return db
    .selectFrom("job_chunks")
    .select(["number", "attempt", "users", "deletions"])
    .where("job_id", "=", jobId)
    .orderBy("number")
    .execute();
}

/** Forgets the chunks of a job. */
export async function dropChunks(db: Db, jobId: string): Promise<void> {
  await db.deleteFrom("job_chunks").where("job_id", "=", jobId).execute();
}
