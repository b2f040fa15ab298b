import { sql } from "kysely";
import { type Db, isPostgres, unindexed } from "./database";
import type { ProjectData } from "./project-data";

/** Types whose weight a training tries to find; events of further types are not even read. */
const mostTypes = 3;

/** Types that are looked at when the largest are chosen. A dataset may have as many types as it has events. */
const mostCounted = 100;

/** A type may have so many events for each target event, or so many in any case; a larger one would fill the memory. */
const [eventsPerTarget, eventsAnyway] = [20, 2_000_000];

/**
 * Chooses the event types that a training learns from if its parameters do not name them, by counting, before any event
 * is read: the target type, then those with the most events. A type with too many for the number of target events is
 * left out.
 */
export async function chooseTypes(
  db: Db,
  { events, targetEventType }: ProjectData,
  limits = { eventsPerTarget, eventsAnyway },
): Promise<readonly string[]> {
  const dataset = isPostgres(db) ? sql.ref("dataset") : unindexed("dataset");
  const { rows } = await sql<{ type: string; events: number }>`
    select event_type as type, count(*) as events from events where ${dataset} = ${events.number}
    group by event_type order by case when event_type = ${targetEventType} then 0 else 1 end, count(*) desc, event_type
    limit ${sql.lit(mostCounted)}`.execute(db);
  const isTarget = ({ type }: { type: string }) => type === targetEventType;
  const targets = Number(rows.find(isTarget)?.events ?? 0);
  const most = Math.max(limits.eventsAnyway, limits.eventsPerTarget * targets);
  const others = rows.filter((row) => !isTarget(row));
  const fitting = others.filter((row) => Number(row.events) <= most).slice(0, mostTypes);
  return [targetEventType, ...fitting.map(({ type }) => type)];
}
