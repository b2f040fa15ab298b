import { sql } from "kysely";
import { type Db, datasetColumn } from "./database";
import type { ProjectData } from "./project-data";

/** Maximum number of event types besides the target that a training learns from. Events of other types are not read. */
const maxTypes = 3;

/** Maximum number of event types to consider, because a dataset may have as many types as events. */
const maxConsidered = 100;

/**
 * An event type is used if it has at most `eventsPerTarget` events per target event, or at most `eventsAnyway` events
 * in total. A larger type would fill the memory.
 */
const defaultLimits = { eventsPerTarget: 20, eventsAnyway: 2_000_000 };

/**
 * Chooses the event types that a training learns from if its parameters do not list them. These are the target type and
 * the types with the most events, except types with too many events for the number of target events.
 */
export async function chooseTypes(
  db: Db,
  { events, targetEventType }: ProjectData,
  limits = defaultLimits,
): Promise<readonly string[]> {
  const { rows } = await sql<{ type: string; events: number }>`
    select event_type as type, count(*) as events from events where ${datasetColumn(db)} = ${events.number}
    group by event_type order by case when event_type = ${targetEventType} then 0 else 1 end, count(*) desc, event_type
    limit ${sql.lit(maxConsidered)}`.execute(db);
  const isTarget = ({ type }: { type: string }) => type === targetEventType;
  const targets = Number(rows.find(isTarget)?.events ?? 0);
  const maxEvents = Math.max(limits.eventsAnyway, limits.eventsPerTarget * targets);
  const others = rows.filter((row) => !isTarget(row));
  const fitting = others.filter((row) => Number(row.events) <= maxEvents).slice(0, maxTypes);
  return [targetEventType, ...fitting.map(({ type }) => type)];
}
