import { CompiledQuery } from "kysely";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";

/** How things stand in a database that other processes write to as well. */
export interface Current {
  /** The job that deployed what is to be served; null where it was shut down. */
  readonly jobId: string | null;
  /** Whether other projects are deployed too. */
  readonly hasOthers: boolean;
  /** How many upserts of items there were. */
  readonly itemChanges: number;
  /** How often events were deleted; null where the event dataset itself was. */
  readonly deletions: number | null;
  /** The same as long as the user's target events are: whatever is written has a seq of its own. */
  readonly stamp: string;
  /** A list of the items of the user's target events and one of their values, as JSON; null where the stamp is the one that is known. */
  readonly events: string | null;
}

/**
 * Out of the covering index alone and in one walk, which costs less than a second one where the stamp is not known.
 * Where events of several types count, with a list of their types too.
 */
function statement(name: string, types: "one" | "several"): string {
  const ofType = { one: "= $5::text", several: "= any($5::text[])" }[types];
  const [json, array] = {
    one: ["", ""],
    several: [", to_json(event_types)", ", coalesce(array_agg(event_type), '{}') as event_types"],
  }[types];
  return `/* ${name} */ select
  (select job_id from deployments where project_id = $1) as "jobId",
  exists (select from deployments where project_id <> $1) as "hasOthers",
  (select changes from datasets where number = $2::int) as "itemChanges",
  (select deletions from datasets where number = $3::int and kind = 'event') as deletions,
  stamp,
  case when stamp <> $6::text then json_build_array(to_json(items), to_json(event_values)${json})::text end as events
  from (
    select count(*) || ':' || coalesce(bit_xor(hashint8extended(seq, 0)), 0) as stamp,
      coalesce(array_agg(item_id), '{}') as items, coalesce(array_agg(event_value), '{}') as event_values${array}
    from events where dataset = $3::int and user_id = $4::text and event_type ${ofType}
  ) as walked`;
}

/** The statement of a model that counts its target events alone. */
export const currentStatement = statement("current", "one");
const currentOfTypes = statement("currentOfTypes", "several");

/** What the statement is asked with: for whom, and which stamp is known of him. */
export function parametersOf(
  projectId: string,
  { items, events, targetEventType }: ProjectData,
  userId: string,
  knownStamp: string,
): unknown[] {
  return [projectId, items.number, events.number, userId, targetEventType, knownStamp];
}

/** All that an answer depends on beside the models, in one reading; with the events of other types, where some count. */
export async function readCurrent(
  db: Db,
  otherTypes: readonly string[],
  ...about: Parameters<typeof parametersOf>
): Promise<Current> {
  const parameters = parametersOf(...about);
  if (otherTypes.length > 0) parameters[4] = [parameters[4], ...otherTypes];
  const asked = otherTypes.length > 0 ? currentOfTypes : currentStatement;
  const { rows } = await db.executeQuery(CompiledQuery.raw(asked, parameters));
  return rows[0] as Current;
}
