import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { connect, openStore } from "../../../service/store/database";
import type { ProjectData } from "../../../service/store/project-data";
import { eachEvent } from "../../../service/store/snapshot";

const folder = mkdtempSync(join(tmpdir(), "snapshot-"));
const file = join(folder, "data.db");
afterAll(() => rmSync(folder, { recursive: true }));

/** Two pages and some, of which nine in ten are read: two pages exactly are, when all types are. */
const count = 4444;
/** Just above the middle of two 32-bit numbers: with 15 digits it would be below. */
const exact = 1 + 2 ** -24 + 2 ** -52;

test("every event of the wanted types is read once, in order, and its value to the last digit", async () => {
  await (await openStore(file)).close();
  const database = new Database(file);
  database.exec("pragma foreign_keys=off; begin");
  const insert = database.prepare("insert into events values (?, ?, ?, ?, ?, ?, ?, ?, '{}')");
  for (let at = 0; at < count; at++) {
    const type = at % 3 === 0 ? 'say "hi"' : "buy";
    insert.run(
      at + 1,
      at % 10 === 9 ? 2 : 1,
      `e${at}`,
      `u ${at} ü"\\`,
      `i${at}`,
      2 ** 52 + at,
      type,
      valueAt(at),
    );
  }
  database.exec("commit");
  database.close();

  const db = connect(file);
  const data = { events: { id: "e", number: 1 }, targetEventType: "buy" } as unknown as ProjectData;
  const read = async (types: string[] | null) => {
    const seen: unknown[][] = [];
    await eachEvent(db, data, types, (...event) => void seen.push(event), { withTime: true });
    return seen;
  };
  const expected = Array.from({ length: count }, (_, at) => at)
    .filter((at) => at % 10 !== 9)
    .map((at) => [
      `u ${at} ü"\\`,
      `i${at}`,
      Math.fround(valueAt(at)),
      2 ** 52 + at,
      at % 3 === 0 ? 'say "hi"' : "buy",
    ]);
  expect(await read(null)).toEqual(expected);
  expect(await read(["buy"])).toEqual(expected.filter(([, , , , type]) => type === "buy"));
  expect(await read(["view"])).toEqual([]);
  expect(Math.fround(exact)).not.toBe(Math.fround(Number(exact.toPrecision(15))));
  await db.destroy();
});

/** Whole ones, prices, and on the second page one that takes all its digits. */
function valueAt(at: number): number {
  if (at === 2500) return exact;
  return at % 2 === 0 ? 3 : 19.99;
}
