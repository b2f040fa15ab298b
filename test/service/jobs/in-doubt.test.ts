import { Client } from "pg";
import { type Service, startService } from "../../../service";
import { Cable } from "../cable";
import { newDatabase } from "../database";
import { Caller } from "../running";
import { openShop } from "../shop";

const key = "rk_the-key-of-the-doubt";
const undo: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

test("the result of a job whose commit was in doubt is still there when the commit turns out to have succeeded", async () => {
  const database = await newDatabase();
  undo.push(() => database.drop());
  const cable = await Cable.to(database.url);
  undo.push(async () => cable.close());
  const start = async (store: string, role: "api" | "worker"): Promise<Service> => {
    const service = await startService({ log: "none", store, key, role, retryDelayMs: 0 });
    undo.push(() => service.close());
    return service;
  };
  const api = await start(database.url, "api");
  const worker = await start(cable.url, "worker");
  const caller = new Caller(api);
  undo.push(() => caller.close());
  const { projectId, algorithmId } = await openShop(caller);
  await caller.call("submitTrainingJob", { projectId, algorithmId, name: "weekly" });
  await worker.idle();
  const modelId = String((await caller.call("listModels", { projectId })).models[0]?.modelId);

  // A commit that ends the job waits until the test lets it go on.
  const admin = new Client({ connectionString: database.url });
  await admin.connect();
  undo.push(() => admin.end());
  await admin.query(`create function wait() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(42); return null; end $$`);
  await admin.query(`create constraint trigger wait after update on jobs deferrable initially deferred
    for each row when (new.status = 'SUCCEED') execute function wait()`);
  await admin.query("begin; select pg_advisory_xact_lock(42)");
  const held = async (lock: string) => (await admin.query(`select from pg_locks where ${lock}`)).rowCount;
  const asked = { projectId, modelId, name: "groups", parameters: {} };
  const { jobId } = await caller.call("submitClusteringJob", asked);
  while (!(await held("locktype = 'advisory' and objid = 42 and not granted")));
  cable.cut();
  // The worker is back, and wants to know what became of the job, or has given its result up.
  const results = async () =>
    (await admin.query("select from files where name like 'results/%'")).rowCount as number;
  const waits = () => held("not granted and (locktype <> 'advisory' or objid <> 42)");
  while ((await results()) > 0 && !(await waits()));
  await admin.query("commit");
  await worker.idle();
  const { jobStatus, jobResult } = await caller.call("getJob", { projectId, jobId });
  expect(jobStatus).toBe("SUCCEED");
  expect((await caller.raw((jobResult as { downloadUrl: string }).downloadUrl)).status).toBe(200);
});
