import { once } from "node:events";
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { folderAt, startService } from "../../../service";
import { readManifest } from "../../../service/backup/manifest";
import { columnsIn, heldTables } from "../../../service/backup/rows";
import { connect } from "../../../service/store/database";
import { newDatabase } from "../database";
import { run } from "../process";
import { Caller } from "../running";
import { openShop } from "../shop";
import { contentsOf, done, start } from "./contents";

const kills = Number(process.env.KILLS ?? 2);
const folder = mkdtempSync(join(tmpdir(), "broken-off-"));
const at = (name: string) => join(folder, name);
let database: Awaited<ReturnType<typeof newDatabase>>;
let whole: Awaited<ReturnType<typeof contentsOf>>;

beforeAll(async () => {
  database = await newDatabase();
  const service = await startService({ dataDir: at("data"), log: "none" });
  const api = new Caller(service);
  const { eventDatasetId } = await openShop(api);
  for (let batch = 0; batch < 20; batch++) {
    const events = Array.from({ length: 1000 }, (_, at) => {
      const id = `${batch} ${at}`;
      return { eventId: id, userId: id, itemId: `i${at}`, ts: at, eventType: "view" };
    });
    await api.call("upsertDatasetEvents", { eventDatasetId, events });
  }
  await api.close();
  await service.close();
  await done("export", at("whole"), "--data", at("data"));
  whole = await contentsOf(at("whole"));
});

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Kills the command at some moment between a first sign that it works and its end; false where it had ended by then. */
async function killed(
  options: string[],
  works: () => boolean | Promise<boolean>,
  afterMs: number,
): Promise<boolean> {
  const child = start(...options);
  const exit = once(child, "exit");
  while (child.exitCode === null && !(await works())) await new Promise((resolve) => setTimeout(resolve, 2));
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill("SIGKILL");
  const [code] = await exit;
  return code === null;
}

test(`after ${kills} kills of an export there is no backup, or a whole one, and the same command makes it`, async () => {
  let hits = 0;
  for (let kill = 0; kill < kills; kill++) {
    const hit = await killed(
      ["export", at("cut"), "--data", at("data")],
      () => existsSync(at("cut/tables")),
      (500 * kill) / kills,
    );
    if (hit) hits++;
    const checked = await run("restore", at("cut"), "--check");
    if (!existsSync(at("cut/manifest.json"))) {
      expect(checked).toMatchObject({ code: 1, err: expect.stringContaining("no whole backup") });
      continue;
    }
    expect(checked).toMatchObject({ code: 0 });
    expect(await contentsOf(at("cut"))).toEqual(whole);
    rmSync(at("cut"), { recursive: true });
  }
  expect(hits).toBeGreaterThan(0);
  await done("export", at("cut"), "--data", at("data"));
  expect(await contentsOf(at("cut"))).toEqual(whole);
});

/** How many rows a store holds. */
async function rowsOf(place: string): Promise<number> {
  const db = connect(place);
  const known = await columnsIn(db);
  let total = 0;
  for (const table of heldTables.filter((name) => known.has(name))) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(db);
    total += rows[0]?.n ?? 0;
  }
  await db.destroy();
  return total;
}

async function emptied(place: string): Promise<void> {
  const db = connect(place);
  for (const table of heldTables) await db.deleteFrom(table).execute();
  await db.destroy();
}

test.each(["a folder", "PostgreSQL"])(
  `after ${kills} kills of a restore into %s it holds nothing, or everything, and the same command restores it`,
  async (kind) => {
    const target = kind === "a folder" ? ["--data", at("restored")] : ["--store", database.url];
    const place = kind === "a folder" ? folderAt(at("restored")).database : database.url;
    const all = Object.values(readManifest(at("whole")).rows).reduce((sum, rows) => sum + rows);
    const isWorking = async () => {
      if (kind === "a folder") return existsSync(`${place}-wal`);
      const { rows } = await sql<{ n: number }>`select count(*) as n from pg_locks
        where relation = to_regclass('instance') and mode = 'AccessExclusiveLock'`.execute(db);
      return (rows[0]?.n ?? 0) > 0;
    };
    const db = connect(database.url);
    let hits = 0;
    for (let kill = 0; kill < kills; kill++) {
      if (await killed(["restore", at("whole"), ...target], isWorking, (500 * kill) / kills)) hits++;
      const rows = await rowsOf(place);
      expect([0, all]).toContain(rows);
      if (rows === all) await emptied(place);
    }
    expect(hits).toBeGreaterThan(0);
    await db.destroy();
    await done("restore", at("whole"), ...target);
    await done("export", at(`again ${kind}`), ...target);
    const { key: _, ...withoutKey } = whole;
    expect(await contentsOf(at(`again ${kind}`))).toEqual(kind === "a folder" ? whole : withoutKey);
    const refused = await run("restore", at("whole"), ...target);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("already holds data") });
  },
);

test("each damaged or missing file of a backup is named, and nothing of it is restored", async () => {
  cpSync(at("whole"), at("damaged"), { recursive: true });
  const events = at("damaged/tables/events-000001.ndjson.gz");
  const bytes = readFileSync(events);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(events, bytes);
  rmSync(at("damaged/tables/jobs-000001.ndjson.gz"));
  const checked = await run("restore", at("damaged"), "--check", "--json");
  expect(checked).toMatchObject({ code: 2 });
  const { whole: isWhole, faults } = JSON.parse(checked.out);
  expect(isWhole).toBe(false);
  expect(faults).toEqual([
    expect.stringContaining(`${events} is damaged: its SHA-256`),
    expect.stringContaining("jobs-000001.ndjson.gz cannot be read (ENOENT"),
  ]);
  const restored = await run("restore", at("damaged"), "--data", at("new"));
  expect(restored).toMatchObject({ code: 1, err: expect.stringContaining("Nothing was restored") });
  expect(existsSync(at("new"))).toBe(false);
});

test("an export is refused into a folder that holds something, and of a folder that holds no service", async () => {
  const full = await run("export", at("whole"), "--data", at("data"));
  expect(full).toMatchObject({ code: 1, err: expect.stringContaining("holds a backup already") });
  const foreign = await run("export", at("data"), "--data", at("data"));
  expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining("is not empty") });
  const none = await run("export", at("none"), "--data", at("nothing"), "--json");
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining("There is no data of a service") });
  expect(JSON.parse(none.out)).toMatchObject({ error: { message: expect.any(String) } });
  expect(existsSync(at("none"))).toBe(false);
});

test("a manifest of a newer version, or one that leads out of the folder, is refused", async () => {
  const manifest = readManifest(at("whole"));
  cpSync(at("whole"), at("odd"), { recursive: true });
  const write = (content: object) => writeFileSync(at("odd/manifest.json"), JSON.stringify(content));
  write({ ...manifest, version: 2 });
  const newer = await run("restore", at("odd"), "--check");
  expect(newer).toMatchObject({ code: 1, err: expect.stringContaining("by a newer version") });
  copyFileSync(at("whole/key"), at("key"));
  write({ ...manifest, files: [{ ...manifest.files[0], name: "../key" }] });
  const outside = await run("restore", at("odd"), "--check");
  expect(outside).toMatchObject({ code: 1, err: expect.stringContaining("is not that of a backup") });
});
