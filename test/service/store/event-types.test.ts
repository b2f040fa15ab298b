import { Client } from "pg";
import { connect, type Db } from "../../../service/store/database";
import { chooseTypes } from "../../../service/store/event-types";
import type { ProjectData } from "../../../service/store/project-data";
import { eachEvent, snapshot } from "../../../service/store/snapshot";
import { newDatabase } from "../database";

const data = { events: { id: "e", number: 1 }, targetEventType: "buy" } as unknown as ProjectData;
let database: Awaited<ReturnType<typeof newDatabase>>;
let db: Db;
let admin: Client;
beforeAll(async () => {
  database = await newDatabase();
  db = connect(database.url);
  admin = new Client({ connectionString: database.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await db.destroy();
  await database.drop();
});

/** Writes a number of events of a type, distributed over the users of the dataset. */
const write = (type: string, count: number, users = 100) =>
  admin.query(
    `insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
     select 1, $1 || n, 'u' || n % $3::int, 'i' || n % 50, n, $1, 1, '{}' from generate_series(1, $2::int) n`,
    [type, count, users],
  );

test("a training reads its target type and the three largest other types", async () => {
  await write("buy", 10);
  for (const [at, type] of ["view", "click", "like", "share", "ping"].entries()) await write(type, 90 - at);
  await admin.query(`insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
    select 1, 'rare' || n, 'u', 'i', n, 'rare' || n, 1, '{}' from generate_series(1, 500) n`);
  expect(await chooseTypes(db, data)).toEqual(["buy", "view", "click", "like"]);
});

test("a training reads the same events if another type is far larger than the target", async () => {
  const limits = { eventsPerTarget: 20, eventsAnyway: 100 };
  const readOf = async () => {
    const types = await chooseTypes(db, data, limits);
    let events = 0;
    await snapshot(db, (frozen) => eachEvent(frozen, data, types, () => events++));
    return { types, events };
  };
  const before = await readOf();
  expect(before.types).toEqual(["buy", "view", "click", "like"]);
  await write("impression", 20_000);
  expect(await readOf()).toEqual(before);
});

test("the events of a very active user are read in one pass, not sorted again for each page", async () => {
  await write("heavy", 60_000, 1);
  await admin.query("vacuum analyze events");
  let seen = 0;
  let last = 0;
  const rowsRead = async () => {
    const { rows } = await admin.query<{ read: string }>(
      `select seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'events') as read
       from pg_stat_user_tables where relname = 'events'`,
    );
    return Number(rows[0]?.read);
  };
  const before = await rowsRead();
  const reader = connect(database.url);
  await snapshot(reader, (frozen) =>
    eachEvent(
      frozen,
      data,
      ["heavy"],
      (_user, _item, _value, ts) => {
        seen++;
        expect(ts).toBeGreaterThan(last);
        last = ts;
      },
      { withTime: true },
    ),
  );
  // PostgreSQL counts the reads of a session when the session ends.
  await reader.destroy();
  while ((await rowsRead()) - before < 60_000);
  expect(seen).toBe(60_000);
  expect((await rowsRead()) - before).toBeLessThan(200_000);
});
