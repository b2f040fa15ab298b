import { request } from "node:http";
import { askDatabase } from "./chaos";
import { newDatabase } from "./database";
import { eventually } from "./jobs/watched";
import { Running } from "./running";
import { deploy, openShop, trainModel } from "./shop";
import { signIn } from "./visitor";

const key = "rk_the-key-of-the-scans";
let database: Awaited<ReturnType<typeof newDatabase>>;
let shop: Awaited<ReturnType<typeof openShop>>;
const ask = <T>(statement: string) => askDatabase<T>(database.url, statement);
const start = () => Running.start({ store: database.url, key, console: true }, "folder");
beforeAll(async () => {
  database = await newDatabase();
  const api = await start();
  shop = await openShop(api);
  await deploy(api, shop.projectId, await trainModel(api, shop));
  await ask(`insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
    select number, 'more' || n, 'u' || n % 2000, 'i' || n % 300, n, 'view', 1, '{}'
    from datasets, generate_series(1, 200000) n where kind = 'event'`);
  await ask("vacuum analyze events");
  await api.end();
});
afterAll(() => database.drop());

/** Rows that whole scans of the events have read, as sessions report when they end. */
async function scanned(): Promise<number> {
  await eventually(
    async () =>
      (await ask("select from pg_stat_activity where application_name = 'recommender'")).length === 0,
  );
  const [row] = await ask<{ rows: string }>(
    "select seq_tup_read as rows from pg_stat_user_tables where relname = 'events'",
  );
  return Number(row?.rows);
}

test("no page of the console scans all events of a database", async () => {
  const api = await start();
  await eventually(
    async () =>
      (await ask("select from pg_indexes where indexname = 'events_by_seq'")).length === 1 ||
      (await api.raw("/healthz")).status !== 200,
  );
  await api.end();
  const before = await scanned();
  const viewed = await start();
  const headers = await signIn(viewed);
  const { eventDatasetId, itemDatasetId, projectId } = shop;
  for (const page of [
    "overview",
    `serving?project=${projectId}`,
    `dataset?id=${eventDatasetId}`,
    `records?id=${eventDatasetId}`,
    `record?dataset=${itemDatasetId}&kind=item&id=i7`,
    `record?dataset=${itemDatasetId}&kind=item&id=nobody-has-it`,
    `record?dataset=${eventDatasetId}&kind=user&id=u7`,
  ])
    expect([page, (await viewed.raw(`/console/api/${page}`, { headers })).status]).toEqual([page, 200]);
  const { body } = await viewed.raw(`/console/api/record?dataset=${itemDatasetId}&kind=item&id=i7`, {
    headers,
  });
  expect(body.events).toHaveLength(50);
  await viewed.end();
  expect((await scanned()) - before).toBe(0);
});

test("a page that nobody waits for any more ends its statement", async () => {
  const api = await start();
  const headers = await signIn(api);
  const blocking = new (await import("pg")).Client({ connectionString: database.url });
  await blocking.connect();
  await blocking.query("begin; lock table events in access exclusive mode");
  const waiting = async () =>
    (
      await blocking.query(
        "select from pg_stat_activity where application_name = 'recommender' and wait_event_type = 'Lock'",
      )
    ).rowCount;
  const asked = request(`${api.service.url}/console/api/records?id=${shop.eventDatasetId}`, { headers });
  asked.on("error", () => undefined);
  asked.end();
  await eventually(async () => (await waiting()) === 1);
  asked.destroy();
  await eventually(async () => (await waiting()) === 0);
  await blocking.query("commit");
  await blocking.end();
  await api.end();
});
