import { sql } from "kysely";
import { Client } from "pg";
import { newSecret } from "../../../service/base/secret";
import { clientOf } from "../../../service/store/clients";
import { connect } from "../../../service/store/database";
import { isOutage, readTimeout } from "../../../service/store/postgres-errors";
import { preparedName } from "../../../service/store/prepared";
import { Cable } from "../cable";
import { newDatabase } from "../database";

// The service depends on details of `pg` that are not documented. A new version of it may fail here.
let database: Awaited<ReturnType<typeof newDatabase>>;
beforeAll(async () => {
  database = await newDatabase();
});
afterAll(() => database.drop());

test("a response that does not arrive in time fails with the message of pg that the service knows", async () => {
  const client = new Client({ connectionString: database.url, query_timeout: 200 });
  await client.connect();
  const error: Error = await client.query("select pg_sleep(2)").catch((error) => error);
  await client.end();
  expect(error.message).toBe(readTimeout);
  expect(isOutage(error)).toBe(true);
});

test("a lost connection, and one that cannot be opened in time, are recognised as outages by their messages", async () => {
  const client = new Client({ connectionString: database.url });
  client.on("error", () => undefined);
  await client.connect();
  const pending = client.query("select pg_sleep(2)").catch((error) => error);
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  expect([String(await pending), isOutage(await pending)]).toEqual([expect.any(String), true]);

  const cable = await Cable.to(database.url);
  cable.fallSilent();
  const db = connect(cable.url, { connectMs: 200 });
  const error = await sql`select 1`.execute(db).catch((error) => error);
  await db.destroy();
  cable.close();
  expect([String(error), isOutage(error)]).toEqual([expect.any(String), true]);
});

test("a statement that is named in a comment is prepared under this name", async () => {
  expect(preparedName("/* upsert-events */\n  insert")).toBe("upsert-events");
  expect(preparedName("select 1 /* upsert-events */")).toBeUndefined();
  const db = connect(database.url, { connections: 1 });
  await clientOf(db, `rc_${"0".repeat(20)}_${newSecret(32)}`);
  const { rows } = await sql`select name from pg_prepared_statements`.execute(db);
  await db.destroy();
  expect(rows).toEqual([{ name: "client" }]);
});
