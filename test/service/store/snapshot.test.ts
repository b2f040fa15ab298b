import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { Client } from "pg";
import { connect, type Db, openStore } from "../../../service/store/database";
import type { ProjectData } from "../../../service/store/project-data";
import { eachEvent, snapshot } from "../../../service/store/snapshot";
import { newDatabase, testInDirectory, testOnPostgres } from "../database";

const directory = mkdtempSync(join(tmpdir(), "snapshot-"));
const file = join(directory, "data.db");
afterAll(() => rmSync(directory, { recursive: true }));

/** Number of events: a little more than two pages. Nine in ten are read, or exactly two pages of all types. */
const count = 4444;
/** Value just above the midpoint of two 32-bit numbers. Rounded to 15 digits, it would be below. */
const exact = 1 + 2 ** -24 + 2 ** -52;

const typeAt = (at: number) => (at % 3 === 0 ? 'say "hi"' : "buy");
const data = { events: { id: "e", number: 1 }, targetEventType: "buy" } as unknown as ProjectData;

async function read(db: Db, types: string[] | null): Promise<unknown[][]> {
  const seen: unknown[][] = [];
  const wanted = types ?? [typeAt(0), typeAt(1)];
  await snapshot(db, (frozen) =>
    eachEvent(frozen, data, wanted, (...event) => void seen.push(event), { withTime: true }),
  );
  return seen;
}

const isBought = ([, , , , type]: unknown[]) => type === "buy";

testInDirectory(
  "every event of the requested types is read once, in order, with its exact value",
  async () => {
    await (await openStore(file)).close();
    const database = new Database(file);
    database.exec("pragma foreign_keys=off; begin");
    const insert = database.prepare("insert into events values (?, ?, ?, ?, ?, ?, ?, ?, '{}')");
    const userAt = (at: number) => `u ${at} ü"\\`;
    for (let at = 0; at < count; at++) {
      const [dataset, time] = [at % 10 === 9 ? 2 : 1, 2 ** 52 + at];
      insert.run(at + 1, dataset, `e${at}`, userAt(at), `i${at}`, time, typeAt(at), valueAt(at));
    }
    database.exec("commit");
    database.close();

    const db = connect(file);
    const expected = Array.from({ length: count }, (_, at) => at)
      .filter((at) => at % 10 !== 9)
      .map((at) => [userAt(at), `i${at}`, Math.fround(valueAt(at)), 2 ** 52 + at, typeAt(at)]);
    expect(await read(db, null)).toEqual(expected);
    expect(await read(db, ["buy"])).toEqual(expected.filter(isBought));
    expect(await read(db, ["view"])).toEqual([]);
    expect(Math.fround(exact)).not.toBe(Math.fround(Number(exact.toPrecision(15))));
    await db.destroy();
  },
);

testOnPostgres("every event is read once, user by user, also if a page ends within a user", async () => {
  const database = await newDatabase();
  const client = new Client(database.url);
  await client.connect();
  // 20,000 events are exactly two pages. Ten users have 1,700 events each, and the others have one.
  const userAt = (at: number) => (at < 17_000 ? `u"\\\n${at % 10}` : `ü🎷${at}`);
  const all = Array.from({ length: 20_000 }, (_, at) => at);
  await client.query("set session_replication_role = replica");
  await client.query(
    `insert into events (seq, dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
      overriding system value
      select seq, 1, 'e' || seq, user_id, 'i' || seq, 4503599627370496 + seq, event_type, event_value, '{}'
      from unnest($1::bigint[], $2::text[], $3::text[], $4::float8[]) as t (seq, user_id, event_type, event_value)`,
    [all.map((at) => at + 1), all.map(userAt), all.map(typeAt), all.map(valueAt)],
  );
  await client.end();
  const db = connect(database.url);
  const expected = all
    .map((at) => [userAt(at), `i${at + 1}`, Math.fround(valueAt(at)), 2 ** 52 + at + 1, typeAt(at)] as const)
    .sort(
      ([a, ...one], [b, ...other]) => Buffer.compare(Buffer.from(a), Buffer.from(b)) || one[2] - other[2],
    );
  expect(await read(db, null)).toEqual(expected);
  expect(await read(db, ["buy"])).toEqual(expected.filter((event) => isBought([...event])));
  expect(await read(db, ["view"])).toEqual([]);
  await db.destroy();
  await database.drop();
});

/** Integers, prices, and on the second page a value with all digits. */
function valueAt(at: number): number {
  if (at === 2500) return exact;
  return at % 2 === 0 ? 3 : 19.99;
}
