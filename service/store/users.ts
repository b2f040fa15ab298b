import { sql } from "kysely";
import { type Db, isPostgres } from "./database";
import type { ProjectData } from "./project-data";

/** The datasets that contain the users of a project. */
type Users = Pick<ProjectData, "users" | "events">;

/** Returns the ids that have a record or events, in the same order and in pages. Forgotten users have neither. */
export async function* existingUsers(
  db: Db,
  data: Users,
  ids: readonly string[],
  size: number,
): AsyncGenerator<string[]> {
  // SQLite has no index of events by user, so a search for many users reads all of them once.
  const all = !isPostgres(db) && ids.length > size ? await everyUser(db, data) : undefined;
  for (let from = 0; from < ids.length; from += size) {
    const page = ids.slice(from, from + size);
    const existing = all ?? (await existingAmong(db, data, page));
    yield page.filter((id) => existing.has(id));
  }
}

async function everyUser(db: Db, data: Users): Promise<Set<string>> {
  const all = new Set<string>();
  for await (const page of usersInOrder(db, data, "", 1000)) for (const id of page) all.add(id);
  return all;
}

async function existingAmong(db: Db, { users, events }: Users, ids: readonly string[]): Promise<Set<string>> {
  const records = db
    .selectFrom("records")
    .select("record_id as id")
    .where("dataset", "=", users.number)
    .where("forgotten", "=", 0)
    .where("record_id", "in", ids);
  const withEvents = db
    .selectFrom("events")
    .select("user_id as id")
    .where("dataset", "=", events.number)
    .where("user_id", "in", ids);
  return new Set((await records.union(withEvents).execute()).map(({ id }) => id));
}

/** Returns all users with a record or events after an id, in pages. Forgotten users have neither. */
export async function* usersInOrder(
  db: Db,
  { users, events }: Users,
  after: string,
  size: number,
): AsyncGenerator<string[]> {
  // SQLite has no index of events by user. A single read of all ids takes less time than a scan for each page.
  const limit = isPostgres(db) ? sql`limit ${sql.lit(size)}` : sql``;
  for (let last: string | undefined = after; last !== undefined; ) {
    const { rows }: { rows: { id: string }[] } = await sql<{ id: string }>`
      select id from (
        select id from (select record_id as id from records
          where dataset = ${users.number} and record_id > ${last} and forgotten = 0 order by record_id ${limit}) as a
        union
        select id from (select distinct user_id as id from events
          where dataset = ${events.number} and user_id > ${last} order by user_id ${limit}) as b
      ) as users_of_both order by id ${limit}`.execute(db);
    for (let from = 0; from < rows.length; from += size)
      yield rows.slice(from, from + size).map(({ id }) => id);
    last = isPostgres(db) && rows.length === size ? rows.at(-1)?.id : undefined;
  }
}
