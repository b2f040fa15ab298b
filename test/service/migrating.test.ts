import { setTimeout as sleep } from "node:timers/promises";
import { Migrator, sql } from "kysely";
import { CurrentReader } from "../../service/serving/current";
import { connect, type Db } from "../../service/store/database";
import { writeEvents } from "../../service/store/events";
import { migrate, migrationsOf } from "../../service/store/migrations";
import { projectData } from "../../service/store/project-data";
import { take } from "../../service/store/queue";
import { countShards, freeCapacity } from "../../service/store/shards";
import { newDatabase } from "./database";

/** The last migration of the old processes in this test. */
const before = "04-files";
const users = 20;

let database: Awaited<ReturnType<typeof newDatabase>>;
let db: Db;
beforeAll(async () => {
  database = await newDatabase({ empty: true });
  db = connect(database.url, { writes: true, connections: 8 });
  const provider = { getMigrations: async () => migrationsOf(true) };
  const { error } = await new Migrator({ db, provider }).migrateTo(before);
  if (error) throw error;
  await sql`insert into datasets (id, number, kind, name, num_shards, deletions, created_ts)
    values ('u', 1, 'user', 'u', 1, 0, 0), ('i', 2, 'item', 'i', 1, 0, 0), ('e', 3, 'event', 'e', 1, 0, 0)`.execute(
    db,
  );
  await sql`insert into projects (id, name, project_type, user_dataset_id, item_dataset_id, event_dataset_id,
    target_event_type, created_ts) values ('p', 'p', 'personalization', 'u', 'i', 'e', 'buy', 0)`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

/** Repeats a step until it is stopped, and counts the repetitions. */
function repeated(step: (round: number) => Promise<void>) {
  let [rounds, ending] = [0, false];
  const work = (async () => {
    for (; !ending; rounds++) await step(rounds);
  })();
  return {
    rounds: () => rounds,
    work,
    end: () => {
      ending = true;
      return work;
    },
  };
}

test("processes of an older version keep working without loss while a newer one migrates the tables", async () => {
  const events = await db.selectFrom("datasets").selectAll().where("id", "=", "e").executeTakeFirstOrThrow();
  const project = await db.selectFrom("projects").selectAll().executeTakeFirstOrThrow();
  const data = await projectData(db, project);
  const acknowledged = new Map<string, number>();
  const upserts = repeated(async (round) => {
    // Every second call replaces records.
    const ids = Array.from({ length: users }, (_, at) => `e${(round >> 1) % 50}-${at}`);
    const rows = ids.map((event_id, at) => ({
      ...{ dataset: events.number, event_id, user_id: `u${at}`, item_id: `i${round}` },
      ...{ ts: round, event_type: "buy", event_value: 1, attributes: "{}" },
    }));
    await db.transaction().execute(async (inside) => {
      await freeCapacity(inside, events);
      const { fresh } = await writeEvents(inside, events, rows, () => 0);
      await countShards(inside, events, fresh, 1);
    });
    for (const id of ids) acknowledged.set(id, round);
  });
  const reader = new CurrentReader(db, project.id, data, []);
  const answers = repeated(async (round) => {
    const known = [...acknowledged.keys()].filter((id) => id.endsWith(`-${round % users}`)).length;
    const { events: read } = await reader.read(`u${round % users}`, "");
    const [items] = JSON.parse(read ?? "[[]]") as [string[]];
    expect(items.length).toBeGreaterThanOrEqual(known);
  });
  // Like the older version, which has no request ids.
  const jobs = repeated(async (round) => {
    await sql`insert into jobs (number, id, project_id, job_type, name, data, status, retry_count, created_ts)
      values (${round}, ${`job-${round}`}, 'p', 'TRAINING', 'n', '{}', 'PENDING', 0, 0)`.execute(db);
    const taken = await take(db, ["TRAINING"], { worker: "old", now: 0, leaseMs: 1000 });
    expect(taken).toMatchObject({ number: round, status: "RUNNING" });
    await sql`update jobs set status = 'SUCCEED', finished_ts = 1 where number = ${round}`.execute(db);
    await sql`insert into models (id, number, project_id, name, algorithm_type, algorithm_parameters, created_ts)
      values (${`m${round}`}, ${round}, 'p', 'n', 'G1', '{}', 0)`.execute(db);
  });
  const loops = [upserts, answers, jobs];
  const goOn = async () => {
    const counts = loops.map(({ rounds }) => rounds());
    while (!loops.every(({ rounds }, at) => rounds() >= Number(counts[at]) + 20))
      await Promise.race([sleep(5), ...loops.map(({ work }) => work)]);
  };
  const newer = connect(database.url, { writes: true });
  try {
    await goOn();
    await migrate(newer);
    await goOn();
  } finally {
    await Promise.all(loops.map(({ end }) => end()));
  }
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    newer,
  );
  await newer.destroy();
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(migrationsOf(true)).sort());
  expect(rows.at(-1)?.name).not.toBe(before);

  const stored = await db.selectFrom("events").select(["event_id", "ts"]).execute();
  expect(new Map(stored.map(({ event_id, ts }) => [event_id, ts]))).toEqual(acknowledged);
  const { held } = await db
    .selectFrom("shards")
    .select((of) => of.fn.sum<number>("records").as("held"))
    .executeTakeFirstOrThrow();
  expect(held).toBe(acknowledged.size);
  for (const table of ["jobs", "models"] as const)
    expect(await db.selectFrom(table).select("number").execute()).toHaveLength(jobs.rounds());
});
