import { getEventListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { Client } from "pg";
import { DatabaseFiles } from "../../service/files/storage/database-files";
import { connect, type Db, openStore, type Store } from "../../service/store/database";
import { lockUpserts } from "../../service/store/locks";
import { migrate } from "../../service/store/migrations";
import { unreachable } from "../../service/store/postgres-errors";
import { livingProcesses, Processes } from "../../service/store/processes";
import { countShards, freeCapacity } from "../../service/store/shards";
import { listen } from "../../service/store/signals";
import { sweepDeleted } from "../../service/store/sweep";
import type { Dataset } from "../../service/store/tables";
import { Cable } from "./cable";
import { newDatabase } from "./database";

let database: Awaited<ReturnType<typeof newDatabase>>;
let store: Store;
let other: Client;
beforeAll(async () => {
  database = await newDatabase();
  store = await openStore(database.url);
  other = new Client({ connectionString: database.url });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await store.close();
  await database.drop();
});

/** Whether a promise is still pending after a moment. */
const waits = (work: Promise<unknown>) => Promise.race([work.then(() => false), sleep(300).then(() => true)]);
const one = (db: Db) => sql`select 1`.execute(db);

test("gives up connections to a host that does not respond, and reconnects when it does", async () => {
  const cable = await Cable.to(database.url);
  const far = await openStore(cable.url, { limits: { statementMs: 1000 } });
  await Promise.all([one(far.db), far.concurrently(one), far.exclusively(one)]);
  cable.silence();
  const [read, ...written] = await Promise.allSettled([
    one(far.db),
    far.concurrently(one),
    far.exclusively(one),
  ]);
  expect(unreachable((read as PromiseRejectedResult).reason)).toMatchObject({ code: "UNAVAILABLE" });
  const refused = { code: "UNAVAILABLE", message: expect.stringContaining("may or may not") };
  for (const { reason } of written as PromiseRejectedResult[]) expect(reason).toMatchObject(refused);
  await Promise.all([one(far.db), far.concurrently(one), far.exclusively(one)]);
  await far.close();
  cable.close();
});

test("ends an idle transaction in a service, but not in a restore", async () => {
  const limitOf = async (store: Store) => {
    const limit = sql<{
      paused: string;
    }>`select current_setting('idle_in_transaction_session_timeout') as paused`;
    return (await store.exclusively((db) => limit.execute(db))).rows[0]?.paused;
  };
  const unlimited = await openStore(database.url, { limits: {} });
  expect(await limitOf(unlimited)).toBe("0");
  expect(await limitOf(store)).toBe("5s");
  await unlimited.close();
});

test("cancels a statement that takes too long, and reports that nothing was changed", async () => {
  // The client gives up after another fifth of this time, which PostgreSQL must not need on a busy machine.
  const quick = await openStore(database.url, { limits: { statementMs: 6000 } });
  await expect(quick.concurrently((db) => sql`select pg_sleep(60)`.execute(db))).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("has changed nothing"),
  });
  await quick.concurrently(one);
  await quick.close();
});

test("upserts and exclusive transactions do not wait for each other's connections", async () => {
  const many = (work: () => Promise<unknown>) => Promise.all(Array.from({ length: 8 }, work));
  await other.query("begin; select pg_advisory_xact_lock(7146282301)");
  const calls = many(() => store.exclusively(one));
  await store.concurrently(one);
  expect(await waits(calls)).toBe(true);
  await other.query("commit; begin; lock table events");
  const upserts = many(() => store.concurrently((db) => db.selectFrom("events").select("seq").execute()));
  await calls;
  await store.exclusively(one);
  expect(await waits(upserts)).toBe(true);
  await other.query("commit");
  await upserts;
});

describe("a migration", () => {
  let db: Db;
  beforeAll(() => {
    db = connect(database.url, { writes: true });
  });
  afterAll(() => db.destroy());

  test("does not block others while a long transaction locks a table, and reports it when it gives up", async () => {
    await other.query(`drop table clients, console_sessions, refusals, orphans, stable_addresses, holders, job_users, job_chunks;
      alter table jobs drop column request_id; alter table records drop column forgotten;
      alter table models drop column seen_seq, drop column forgotten_until;
      alter table datasets drop column last_uploads, drop column replaced_uploads; alter table forgotten_users drop column hashed; alter table instance drop column tombstone_key;
      alter table deployments drop column rules;
      drop index jobs_by_status, jobs_of_project, jobs_of_type, models_of_project; delete from kysely_migration where name >= '05'`);
    await other.query("begin; lock table models in access share mode");
    const migrated = migrate(db, 0);
    const refused = expect(migrated).rejects.toThrow("a long transaction locks one of them");
    await store.db.selectFrom("models").select("id").execute();
    await refused;
    const executed = async () =>
      (await other.query("select name from kysely_migration where name > '05'")).rows;
    expect(await executed()).toEqual([]);
    const patient = migrate(db);
    // The migrations before the one that needs the locked table.
    while ((await executed()).length < 2) await sleep(50);
    await other.query("commit");
    await patient;
    await store.db.selectFrom("jobs").select("request_id").execute();
  });

  test("of a newer version prevents the start of this version unless it only adds tables or columns", async () => {
    await other.query("insert into kysely_migration values ('98-more', '2999-01-01')");
    await (await openStore(database.url)).close();
    await other.query("insert into kysely_migration values ('99-other!', '2999-01-01')");
    await expect(openStore(database.url)).rejects.toThrow("written by a newer version of recommender");
    await other.query("delete from kysely_migration where timestamp = '2999-01-01'");
  });

  test("starts over if a newer version migrates the tables at the same time", async () => {
    // Kysely reads the executed migrations after `migrate` did, and waits for its lock in between.
    await other.query("begin; lock table kysely_migration_lock in access exclusive mode");
    const migrated = migrate(db);
    await sleep(500);
    await other.query("insert into kysely_migration values ('98-more', '2999-01-01'); commit");
    await migrated;
    await other.query("delete from kysely_migration where timestamp = '2999-01-01'");
  });
});

test("a late heartbeat does not register a process again that has left", async () => {
  const processes = new Processes(store, "process-1", "api");
  await processes.beat();
  expect(await livingProcesses(store.db)).toEqual([{ id: "process-1", role: "api" }]);
  await Promise.all([processes.beat(), processes.leave()]);
  await processes.beat();
  expect(await livingProcesses(store.db)).toEqual([]);
});

test("listening for signals leaks nothing when the connection is lost", async () => {
  const closing = new AbortController();
  const heard = listen("postgres://127.0.0.1:1/none", closing.signal, {
    jobs: () => {},
    deployments: () => {},
  });
  await sleep(2500);
  // The listener of the connection, or of the pause before the next one.
  expect(getEventListeners(closing.signal, "abort").length).toBeLessThanOrEqual(1);
  closing.abort();
  await heard;
});

describe("a dataset of one shard", () => {
  let dataset: Dataset;
  beforeAll(async () => {
    const row = {
      id: "d",
      number: 1,
      kind: "event" as const,
      name: "d",
      num_shards: 1,
      attribute_schema: null,
    };
    await store.db
      .insertInto("datasets")
      .values({ ...row, deletions: 0, created_ts: 0 })
      .execute();
    dataset = await store.db.selectFrom("datasets").selectAll().executeTakeFirstOrThrow();
  });
  const upsert = (id: string, ready: () => void, end: Promise<unknown>) =>
    store.concurrently(async (db) => {
      const free = await freeCapacity(db, dataset);
      await sql`insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
        values (1, ${id}, 'u', 'i', 1, 't', 1, '{}')`.execute(db);
      ready();
      await end;
      await countShards(db, dataset, [id], 1);
      return free;
    });
  /** An upsert that runs until it is released. */
  async function underWay(id: string) {
    let [letGo, ready] = [() => {}, () => {}];
    const end = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const begun = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const done = upsert(id, ready, end);
    return {
      begun,
      letGo: () => {
        letGo();
        return done;
      },
    };
  }
  const held = (records: number) =>
    sql`insert into shards values (1, 0, ${records})
      on conflict (dataset, shard) do update set records = excluded.records`.execute(store.db);

  test("takes upserts concurrently, and one after another once it is nearly full", async () => {
    await held(70_000);
    const [first, second] = [await underWay("a"), await underWay("b")];
    await Promise.all([first.begun, second.begun]);
    expect(await first.letGo()).toBe(30_000);
    await second.letGo();
    await held(99_999);
    const [last, late] = [await underWay("c"), await underWay("d")];
    const begun = await Promise.race([last.begun.then(() => last), late.begun.then(() => late)]);
    const waiting = begun === last ? late : last;
    expect(await waits(waiting.begun)).toBe(true);
    expect(await begun.letGo()).toBe(1);
    expect(await waiting.letGo()).toBe(0);
  });

  test("keeps nothing of a running upsert when it is deleted, and rejects later ones", async () => {
    await held(4);
    const before = await underWay("e");
    await before.begun;
    const deleted = store.exclusively(async (db) => {
      await lockUpserts(db, dataset, "exclusive");
      await db.updateTable("datasets").set({ kind: "deleted" }).execute();
    });
    expect(await waits(deleted)).toBe(true);
    await before.letGo();
    await deleted;
    await expect((await underWay("f")).letGo()).rejects.toThrow();
    await sweepDeleted({ store, closing: new AbortController().signal });
    expect(await store.db.selectFrom("events").select("event_id").execute()).toEqual([]);
    expect(await store.db.selectFrom("shards").selectAll().execute()).toEqual([]);
  });
});

test("two concurrent uploads of a file leave one of them intact", async () => {
  const directory = mkdtempSync(join(tmpdir(), "uploads-"));
  const files = new DatabaseFiles({ directory, url: database.url });
  const whole = Buffer.alloc(3 * 1024 * 1024, "a");
  async function* slow() {
    for (const at of [0, 1, 2]) {
      if (at === 2) await files.write("models/model-1", [Buffer.from("b")]);
      yield whole.subarray(at * 1024 * 1024, (at + 1) * 1024 * 1024);
    }
  }
  await files.write("models/model-1", slow());
  const reading = await files.read("models/model-1");
  expect(reading && (await buffer(reading.stream)).equals(whole)).toBe(true);
  const parts = await store.db.selectFrom("file_parts").select("part").execute();
  expect(parts).toHaveLength(3);
  files.close();
  rmSync(directory, { recursive: true });
});
