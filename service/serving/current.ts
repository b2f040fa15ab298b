import { sql } from "kysely";
import { limits } from "../../contract";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";

/** How things stand in a database that other processes write to as well. */
export interface Current {
  /** The job that deployed what is to be served; null where it was shut down. */
  readonly jobId: string | null;
  /** How many upserts of items there were. */
  readonly itemChanges: number;
  /** How often events were deleted; null where the event dataset itself was. */
  readonly deletions: number | null;
  /** The items that the user has target events for, each with the sum of their values, as JSON. */
  readonly events: string;
}

/** All that an answer depends on beside the models, in one reading. */
export async function readCurrent(
  db: Db,
  projectId: string,
  { items, events, targetEventType }: ProjectData,
  userId: string,
): Promise<Current> {
  const { rows } = await sql<Current>`/* current */ select
    (select job_id from deployments where project_id = ${projectId}) as "jobId",
    (select changes from datasets where number = ${items.number}::int) as "itemChanges",
    (select deletions from datasets where number = ${events.number}::int and kind = 'event') as deletions,
    (select coalesce(json_agg(json_build_array(item_id, value))::text, '[]') from (
      select item_id, sum(least(greatest(event_value, ${sql.lit(-limits.eventValue)}), ${sql.lit(limits.eventValue)})::real::double precision) as value from events
      where dataset = ${events.number}::int and user_id = ${userId}::text and event_type = ${targetEventType}::text
      group by item_id order by item_id) as pairs) as events`.execute(db);
  return rows[0] as Current;
}
