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

test("keeps the result of a job whose in-doubt commit succeeded", async () => {
  const database = await newDatabase();
  undo.push(() => database.drop());
  const cable = await Cable.to(database.url);
  undo.push(async () => cable.close());
  let said = "";
  const log = {
    write: (line: string) => {
      said += line;
    },
  };
  const start = async (store: string, role: "api" | "worker"): Promise<Service> => {
    const service = await startService({ log, store, key, role, retryDelayMs: 0 });
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

  // The commit that ends the job waits until the test releases it.
  const admin = new Client({ connectionString: database.url });
  await admin.connect();
  undo.push(() => admin.end());
  await admin.query(`create function wait() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(42); return null; end $$`);
  await admin.query(`create constraint trigger wait after update on jobs deferrable initially deferred
    for each row when (new.status = 'SUCCEED') execute function wait()`);
  // Not in a transaction, in which PostgreSQL would show only the connections that existed at its first look.
  await admin.query("select pg_advisory_lock(42)");
  const asked = { projectId, modelId, name: "groups", parameters: {} };
  const { jobId } = await caller.call("submitClusteringJob", asked);
  const committing = async (): Promise<number | undefined> =>
    (
      await admin.query(`select client_port as port from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and objid = 42 and not granted`)
    ).rows[0]?.port;
  let port = await committing();
  while (port === undefined) port = await committing();
  // Only the connection of the commit is closed. The worker can use the others.
  cable.cut(port);
  const results = async () =>
    (await admin.query("select from files where name like 'results/%'")).rowCount as number;
  // The worker has noticed. It retries, or (wrongly) has removed the result.
  while ((await results()) > 0 && !said.includes("cannot write the end of a job"));
  await admin.query("select pg_advisory_unlock(42)");
  await worker.idle();
  const { jobStatus, jobResult } = await caller.call("getJob", { projectId, jobId });
  expect(jobStatus).toBe("SUCCEED");
  expect((await caller.raw((jobResult as { downloadUrl: string }).downloadUrl)).status).toBe(200);
});
