import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { decodeModel } from "../../../service/files/format/model";
import { openStore } from "../../../service/store/database";

const dist = join(__dirname, "..", "..", "..", "dist");
const [users, items, events] = [40_000, 1000, 200_000];

const own = mkdtempSync(join(tmpdir(), "training-data-"));
const file = join(own, "data.db");
mkdirSync(join(own, "models"));
beforeAll(async () => {
  await (await openStore(file)).close();
  const database = new Database(file);
  const numbers = (count: number) =>
    `with recursive n(k) as (select 0 union all select k + 1 from n where k + 1 < ${count})`;
  // Attributes of 1.5 kB each, 60 MB in total, and as much again for events.
  database.exec(
    `pragma synchronous=off; pragma foreign_keys=off; begin;
     insert into datasets (number, id, kind, name, num_shards, attribute_schema, created_ts, deletions)
       values (1, 'e', 'event', 'e', 10, null, 0, 0);
     insert into records (dataset, record_id, attributes)
       ${numbers(users)} select 2, 'user ' || k, '{"text":"' || hex(zeroblob(750)) || k || '"}' from n;
     insert into events (seq, dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
       ${numbers(events)} select k + 1, 1, k, 'user ' || ((k * 7919) % ${users}), 'item ' || ((k * 31 + k / ${users}) % ${items}), 0, 'buy', 1, '{}' from n;
     commit`,
  );
  database.close();
});
afterAll(() => rmSync(own, { recursive: true }));

/** Runs a script in a process with a limited heap, and returns its output. */
function inHeapOf(megabytes: number, script: string): unknown {
  const code = `
    const load = (name) => require(${JSON.stringify(dist)} + "/service/" + name);
    const db = load("store/database.js").connect(${JSON.stringify(file)});
    const directory = ${JSON.stringify(own)};
    const dataset = (number) => ({ number, attribute_schema: null });
    const data = { users: dataset(2), items: dataset(3), events: { id: "e", number: 1 }, targetEventType: "buy" };
    (async () => { ${script} })().then((said) => console.log(JSON.stringify(said)));`;
  const args = [`--max-old-space-size=${megabytes}`, "-e", code];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

test("writes the data for a trainer with far less memory than its size", () => {
  const written = inHeapOf(
    40,
    `const { writeTrainingData } = load("threads/training-data.js");
     const written = await writeTrainingData(db, { kind: "TRAINING_DATA", data, directory });
     const { users, items, interactions, heldOut } = written;
     const { asyncBufferFromFile, parquetMetadataAsync } = await import("hyparquet");
     const metadata = await parquetMetadataAsync(await asyncBufferFromFile(directory + "/interactions.parquet"));
     const isComplete = Number(metadata.num_rows) === interactions && metadata.row_groups.length > 1;
     const pairs = interactions + heldOut.held.index.length;
     return { users, items, interactions: pairs, asked: heldOut.users.length, isComplete };`,
  ) as Record<string, number>;
  // The service relies on hyparquet-writer to write files synchronously, although its methods may return promises.
  expect(written).toMatchObject({ users, items, isComplete: true });
  expect(written.interactions).toBeGreaterThan(events * 0.9);
  expect(Math.abs(written.asked - 2000)).toBeLessThan(300);
  const tables = readdirSync(own).filter((name) => name.endsWith(".parquet"));
  expect(tables.map((name) => statSync(join(own, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
});

test("a training stores the attributes of users outside of the heap", () => {
  const said = inHeapOf(
    70,
    `const { train } = load("threads/train.js");
     const files = load("files/storage/open.js").openFiles({ directory: directory });
     const chosen = { alpha: 0.1, regularization: 1, regularization_exponent: 1, weighting: "log", damping: 0 };
     const parameters = { ...chosen, dimensions: 8, epochs: 1, neighbours: 0, popularity_exponent: 0 };
     const share = load("threads/share.js").shareOf(1);
     const { report } = await train(db, files, { data, parameters, modelId: "m", share }, () => {}, () => {});
     return Object.keys(report);`,
  );
  expect(said).toContain("chosenParameters");
});

test("a training reads only events of types that it tries", async () => {
  const database = new Database(file);
  database.exec(
    `insert into events (seq, dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
       with recursive n(k) as (select 0 union all select k + 1 from n where k + 1 < 500)
       select ${events} + k + 1, 1, 'other ' || k, 'user ' || k, 'only ' || k, 0, 'type ' || k, 1, '{}' from n`,
  );
  database.close();
  inHeapOf(
    400,
    `const { train } = load("threads/train.js");
     const files = load("files/storage/open.js").openFiles({ directory: directory });
     const chosen = { alpha: 0.1, regularization: 1, regularization_exponent: 1, weighting: "log", damping: 0 };
     const parameters = { ...chosen, dimensions: 8, epochs: 1, neighbours: 0, popularity_exponent: 0 };
     const share = load("threads/share.js").shareOf(1);
     await train(db, files, { data, parameters, modelId: "m2", share }, () => {}, () => {});
     return "done";`,
  );
  const model = await open(join(own, "models", "m2"));
  const { itemIds } = await decodeModel(model).finally(() => model.close());
  // Three other types are tried, each with a different item.
  expect(itemIds.filter((id) => id.startsWith("only "))).toHaveLength(3);
});
