import { Client } from "pg";
import { type Service, startService } from "../../service";
import { startPostgres } from "../../tools/postgres/start.js";
import { Caller } from "./running";
import { openShop, shopRecords } from "./shop";

const key = "rk_the-key-of-the-read-only";
const undo: (() => Promise<unknown>)[] = [];
let api: Service;
let caller: Caller;
let shop: Awaited<ReturnType<typeof openShop>>;
let admin: Client;
beforeAll(async () => {
  // A separate server, because the test changes its settings.
  const server = await startPostgres({ own: true });
  undo.push(() => server.stop());
  admin = new Client({ connectionString: server.url });
  await admin.connect();
  undo.push(() => admin.end());
  api = await startService({ log: "none", store: server.url, key });
  undo.push(() => api.close());
  caller = new Caller(api);
  undo.push(() => caller.close());
  shop = await openShop(caller);
  const { projectId, algorithmId } = shop;
  await caller.call("submitTrainingJob", { projectId, algorithmId, name: "weekly" });
  await api.idle();
  const { models } = await caller.call("listModels", { projectId });
  const generatorModelId = String(models[0]?.modelId);
  await caller.call("submitDeploymentJob", { projectId, generatorModelId, name: "live", qps: 100_000 });
  await api.idle();
});
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

const upsert = () =>
  caller.call("upsertDatasetEvents", {
    eventDatasetId: shop.eventDatasetId,
    events: shopRecords().events.slice(0, 10),
  });
const recommend = () => caller.call("recommendItemsToUser", { userId: "u1" });
const readyz = async () => {
  const { status, body } = await caller.raw("/readyz");
  return { status, store: body.store };
};
const unavailable = { status: 503, error: { code: "UNAVAILABLE" }, headers: { "retry-after": "5" } };
const isRefused = (call: Promise<unknown>) =>
  call.then(
    () => false,
    ({ status }) => status === 503,
  );

test("reports a read-only server, and uses it again as soon as it accepts writes", async () => {
  await admin.query("alter database postgres set default_transaction_read_only = on");
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'recommender'",
  );
  // The first calls may get connections that were closed.
  for (let call = 0; call < 40; call++) expect(await isRefused(upsert())).toBe(true);
  await expect(upsert()).rejects.toMatchObject({
    ...unavailable,
    message: expect.stringContaining("accepts no writes"),
  });
  expect(await readyz()).toEqual({ status: 503, store: "read-only" });
  await admin.query("set default_transaction_read_only = off");
  await admin.query("alter database postgres reset default_transaction_read_only");
  for (let call = 0; call < 10; call++) await upsert();
  expect(await readyz()).toEqual({ status: 200, store: "reachable" });
});

test("reads nothing stale from an old primary whose connections stayed open", async () => {
  expect((await recommend()).results).not.toEqual([]);
  await admin.query("alter system set default_transaction_read_only = on");
  await admin.query("select pg_reload_conf()");
  while (!(await isRefused(recommend())));
  await expect(recommend()).rejects.toMatchObject(unavailable);
  expect(await readyz()).toEqual({ status: 503, store: "read-only" });
  await admin.query("set default_transaction_read_only = off");
  await admin.query("alter system reset default_transaction_read_only");
  await admin.query("select pg_reload_conf()");
  while (await isRefused(recommend()));
  await upsert();
  expect(await readyz()).toEqual({ status: 200, store: "reachable" });
});

test("reports a full disk, and still recommends", async () => {
  await admin.query(`create function full_disk() returns trigger language plpgsql as
    $$ begin raise 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
  await admin.query(
    "create trigger full_disk before insert on events for each row execute function full_disk()",
  );
  await expect(upsert()).rejects.toMatchObject({
    ...unavailable,
    message: expect.stringContaining("The disk is full"),
  });
  expect((await recommend()).results).not.toEqual([]);
  expect(await readyz()).toEqual({ status: 200, store: "full" });
  await admin.query("drop trigger full_disk on events");
  await upsert();
});
