import { request } from "node:http";
import { askDatabase, newDatabase } from "./database";
import { eventually } from "./jobs/watched";
import { Running } from "./running";
import { deploy, openShop, trainModel } from "./shop";
import { signIn } from "./visitor";

const key = "rk_the-key-of-the-scans";
let database: Awaited<ReturnType<typeof newDatabase>>;
let shop: Awaited<ReturnType<typeof openShop>>;
const ask = <T>(statement: string) => askDatabase<T>(database.url, statement);
const start = () => Running.start({ store: database.url, key, console: true }, "directory");
beforeAll(async () => {
  database = await newDatabase();
  const api = await start();
  shop = await openShop(api);
  await deploy(api, shop.projectId, await trainModel(api, shop));
  await ask(`insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
    select number, 'more' || n, 'u' || n % 2000, 'i' || n % 300, n, 'view', 1, '{}'
    from datasets, generate_series(1, 200000) n where kind = 'event'`);
  // Jobs and models of a much busier project, which the pages must not scan.
  await ask(`insert into jobs (number, id, project_id, job_type, name, data, result, status, retry_count, created_ts, finished_ts)
    select 1000 + n, 'job-of-others-' || n, 'others', 'CLUSTERING', 'hourly', '{}', '{}', 'SUCCEED', 0, n, n
    from generate_series(1, 200000) n`);
  await ask(`insert into models (id, number, project_id, name, algorithm_type, algorithm_parameters, created_ts)
    select 'model-of-others-' || n, 1000 + n, 'others', 'hourly', 'g1', '{}', n from generate_series(1, 50000) n`);
  await ask("vacuum analyze");
  await api.end();
});
afterAll(() => database.drop());

/** Returns the number of rows read by sequential scans of large tables. PostgreSQL updates it when sessions end. */
async function scanned(): Promise<number> {
  await eventually(
    async () =>
      (await ask("select from pg_stat_activity where application_name = 'recommender'")).length === 0,
  );
  const [row] = await ask<{ rows: string }>(
    "select sum(seq_tup_read) as rows from pg_stat_user_tables where relname in ('events', 'jobs')",
  );
  return Number(row?.rows);
}

test("no page of the console scans the whole events or jobs table", async () => {
  const api = await start();
  await eventually(
    async () =>
      (await ask("select from pg_indexes where indexname = 'events_by_seq'")).length === 1 ||
      (await api.raw("/healthz")).status !== 200,
  );
  await api.end();
  const [first] = await ask<{ id: string }>("select id from jobs order by number limit 1");
  const [model] = await ask<{ id: string }>("select id from models order by number limit 1");
  // Measures a start and a sign-in without any page, because the cleanup at the start may scan.
  const before = await scanned();
  const unseen = await start();
  await signIn(unseen);
  await unseen.end();
  const ofStart = (await scanned()) - before;
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
    "jobs",
    `jobs?project=${projectId}`,
    `jobs?project=${projectId}&status=FAILED`,
    "jobs?status=FAILED",
    "jobs?type=QUERYING&search=nobody",
    `job?id=${first?.id}`,
    `models?project=${projectId}`,
    `model?id=${model?.id}`,
  ])
    expect([page, (await viewed.raw(`/console/api/${page}`, { headers })).status]).toEqual([page, 200]);
  const { body } = await viewed.raw(`/console/api/record?dataset=${itemDatasetId}&kind=item&id=i7`, {
    headers,
  });
  expect(body.events).toHaveLength(50);
  await viewed.end();
  // One scan reads 200,000 rows. On a busy machine, the cleanup of one start may read a few more rows than that of another.
  expect((await scanned()) - before - 2 * ofStart).toBeLessThan(2_000);
});

test("cancels the SQL statement of a page when its caller disconnects", async () => {
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
