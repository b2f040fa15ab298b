import { statSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables";

/** Pages of the log at which SQLite copies it into the database within a commit. */
export const checkpointPages = 32_000;

/** The same if a thread copies the log earlier: SQLite only steps in if the thread cannot keep up. */
export const lateCheckpointPages = 8 * checkpointPages;

const pageBytes = 4096;

/** Bytes of the log at which a thread copies it into the database. */
export const longLogBytes = checkpointPages * pageBytes;

/** Bytes in the log of an embedded database. */
export function logBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

interface Checkpoint {
  /** 1 if a reader or writer was in the way. */
  readonly busy: number;
  /** Pages copied since the log began. */
  readonly checkpointed: number;
}

/** Pages that are copied in a few milliseconds. */
const fewPages = 500;
const mostPasses = 5;

/**
 * Copies the log of an embedded database into it, without keeping writers waiting. What is written meanwhile is copied
 * in shorter and shorter passes, until little is left for `scrub`.
 */
export async function copyLog(db: Kysely<Tables>): Promise<void> {
  let before = 0;
  for (let pass = 0; pass < mostPasses; pass++) {
    const { rows } = await sql<Checkpoint>`PRAGMA wal_checkpoint(PASSIVE)`.execute(db);
    const copied = rows[0]?.checkpointed ?? 0;
    if (copied - before < fewPages) return;
    before = copied;
  }
}

/**
 * Overwrites what the file of an embedded database and its log still hold of deleted rows, and empties the log.
 * @returns false if a reader or writer kept it from ending; whatever is left goes the next time.
 */
export async function scrub(db: Kysely<Tables>): Promise<boolean> {
  // The first one copies most pages without keeping writers waiting.
  await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(db);
  const { rows } = await sql<Checkpoint>`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db);
  return rows[0]?.busy === 0;
}
