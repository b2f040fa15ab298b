import { statSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables";

/** Number of pages in the write-ahead log at which a commit copies the log into the database. */
export const checkpointPages = 32_000;

/** The same number if a thread copies the log earlier. A commit then copies it only if the thread cannot keep up. */
export const lateCheckpointPages = 8 * checkpointPages;

const pageBytes = 4096;

/** Size of the log in bytes at which a thread copies it into the database. */
export const longLogBytes = checkpointPages * pageBytes;

/** Returns the size of the log of an embedded database. */
export function logBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

interface Checkpoint {
  /** 1 if a reader or writer prevented the checkpoint from completing. */
  readonly busy: number;
  /** Number of pages copied since the log was last emptied. */
  readonly checkpointed: number;
}

/** Number of pages that can be copied in a few milliseconds. */
const fewPages = 500;
const maxPasses = 5;

/** Copies the log of an embedded database into the database in ever shorter passes, without blocking writers. */
export async function copyLog(db: Kysely<Tables>): Promise<void> {
  let before = 0;
  for (let pass = 0; pass < maxPasses; pass++) {
    const { rows } = await sql<Checkpoint>`PRAGMA wal_checkpoint(PASSIVE)`.execute(db);
    const copied = rows[0]?.checkpointed ?? 0;
    if (copied - before < fewPages) return;
    before = copied;
  }
}

/** Empties the log, so no file contains deleted rows. Returns false if a reader or writer prevented it. */
export async function scrub(db: Kysely<Tables>): Promise<boolean> {
  // The first checkpoint copies most pages without blocking writers.
  await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(db);
  const { rows } = await sql<Checkpoint>`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db);
  return rows[0]?.busy === 0;
}
