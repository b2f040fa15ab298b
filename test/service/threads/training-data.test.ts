import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { openStore } from "../../../service/store/database";

const dist = join(__dirname, "..", "..", "..", "dist");
const [users, items, events] = [40_000, 1000, 400_000];
const heapMegabytes = 40;

test("what a trainer gets is written with far less memory than it takes", async () => {
  const own = mkdtempSync(join(tmpdir(), "training-data-"));
  const file = join(own, "data.db");
  mkdirSync(join(own, "job"));
  await (await openStore(file)).close();
  const database = new Database(file);
  const numbers = (count: number) =>
    `with recursive n(k) as (select 0 union all select k + 1 from n where k + 1 < ${count})`;
  // Attributes of 1.5 kB each: 60 MB of text, and as many objects of events again.
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
  const script = `
    const { connect } = require(${JSON.stringify(join(dist, "service/store/database.js"))});
    const { writeTrainingData } = require(${JSON.stringify(join(dist, "service/threads/training-data.js"))});
    const data = { users: { number: 2 }, items: { number: 3 }, events: { id: "e", number: 1 }, targetEventType: "buy" };
    const task = { kind: "TRAINING_DATA", data, folder: ${JSON.stringify(join(own, "job"))} };
    writeTrainingData(connect(${JSON.stringify(file)}), task).then(
      ({ users, items, interactions, heldOut }) =>
        console.log(JSON.stringify({ users, items, interactions: interactions + heldOut.held.index.length, asked: heldOut.users.length })),
    );`;
  const args = [`--max-old-space-size=${heapMegabytes}`, "-e", script];
  const written = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  expect(written).toEqual({ users, items, interactions: expect.any(Number), asked: expect.any(Number) });
  expect(written.interactions).toBeGreaterThan(events * 0.9);
  expect(Math.abs(written.asked - 2000)).toBeLessThan(300);
  rmSync(own, { recursive: true });
});
