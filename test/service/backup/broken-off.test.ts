import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { dataDirectoryAt } from "../../../service";
import { readManifest } from "../../../service/backup/manifest";
import { backedUpTables, columnsIn } from "../../../service/backup/tables";
import { readRunning } from "../../../service/files/lock";
import { connect } from "../../../service/store/database";
import { newDatabase } from "../database";
import { run } from "../process";
import { Running } from "../running";
import { openShop, trainModel } from "../shop";
import { contentsOf, done, start } from "./contents";
import { underLoad } from "./load";

const kills = Number(process.env.KILLS ?? 2);
const directory = mkdtempSync(join(tmpdir(), "broken-off-"));
const at = (name: string) => join(directory, name);
let database: Awaited<ReturnType<typeof newDatabase>>;
let whole: Awaited<ReturnType<typeof contentsOf>>;
let api: Running;
let shop: Awaited<ReturnType<typeof openShop>>;

beforeAll(async () => {
  database = await newDatabase();
  api = await Running.start({ dataDir: at("data") }, "directory");
  shop = await openShop(api);
  const { eventDatasetId } = shop;
  for (let batch = 0; batch < 20; batch++) {
    const events = Array.from({ length: 1000 }, (_, at) => {
      const id = `${batch} ${at}`;
      return { eventId: id, userId: id, itemId: `i${at}`, ts: at, eventType: "view" };
    });
    await api.call("upsertDatasetEvents", { eventDatasetId, events });
  }
  for (const name of ["one", "other"]) await trainModel(api, shop, name);
  await done("export", at("whole"), "--data", at("data"));
  whole = await contentsOf(at("whole"));
});

afterAll(async () => {
  await api.end();
  await database.drop();
  rmSync(directory, { recursive: true });
});

/** A command to kill. */
interface Killed {
  readonly options: readonly string[];
  /** Whether the command has begun its work. */
  works(pid: number): boolean | Promise<boolean>;
  isDone(): boolean | Promise<boolean>;
  /** Removes the results of the command. */
  undo(): Promise<void>;
  /** Called before each start. */
  settle?(): Promise<void>;
}

/** Starts a command, waits until it works, and kills it after a delay. Returns false if it ended before. */
async function kill(command: Killed, afterMs: number): Promise<boolean> {
  await command.settle?.();
  const child = start(...command.options);
  const exit = once(child, "exit");
  while (child.exitCode === null && !(await command.works(Number(child.pid)))) await sleep(1);
  await sleep(afterMs);
  child.kill("SIGKILL");
  const [code] = await exit;
  return code === null && !(await command.isDone());
}

/** Kills a command at moments that are spread over its duration, and repeats those that came too late. */
async function killOften(command: Killed, check: () => Promise<void>): Promise<void> {
  const began = performance.now();
  await command.settle?.();
  await done(...command.options);
  // Includes the start of the process, so it is too long. A kill that came too late is repeated earlier.
  let workMs = performance.now() - began;
  await check();
  await command.undo();
  let [hits, misses] = [0, 0];
  while (hits < kills) {
    if (await kill(command, (workMs * (hits + 0.5)) / kills)) hits++;
    else {
      workMs *= 0.8;
      expect(++misses).toBeLessThan(20 + kills);
    }
    await check();
    if (await command.isDone()) await command.undo();
  }
  if (process.env.KILLS !== undefined)
    process.stderr.write(
      `${command.options[0]}: ${hits} kills have hit it at work, ${misses} came too late\n`,
    );
}

test(`after ${kills} kills of an export under load there is no backup, and the same command completes it`, async () => {
  const load = underLoad(api, shop);
  /** Returns a value that changes when an export begins. */
  const state = () => statSync(at("cut/tables"), { throwIfNoEntry: false })?.ctimeMs;
  let former: number | undefined;
  let acknowledged = load.acknowledged();
  const command: Killed = {
    options: ["export", at("cut"), "--data", at("data")],
    works: () => state() !== undefined && state() !== former,
    isDone: () => existsSync(at("cut/manifest.json")),
    undo: async () => rmSync(at("cut"), { recursive: true }),
    settle: async () => {
      former = state();
      acknowledged = load.acknowledged();
    },
  };
  const check = async () => {
    const checked = await run("restore", at("cut"), "--check");
    if (!(await command.isDone())) {
      expect(checked).toMatchObject({ code: 1, err: expect.stringContaining("no complete backup") });
      return;
    }
    expect(checked).toMatchObject({ code: 0 });
    load.check(await contentsOf(at("cut")), acknowledged);
  };
  try {
    await killOften(command, check);
    await command.settle?.();
    await done(...command.options);
    await check();
    expect(load.acknowledged()).not.toEqual(acknowledged);
  } finally {
    await load.end();
  }
  const { events, datasets: _, shards: __, ...others } = await contentsOf(at("cut"));
  const there = new Set(events);
  expect(whole.events?.filter((row) => !there.has(row))).toEqual([]);
  expect(whole).toMatchObject(others);
});

test("a resumed export reuses the models that it has copied, except damaged ones", async () => {
  const dir = at("resumed");
  const command: Killed = {
    options: ["export", dir, "--data", at("data")],
    // Models are copied first.
    works: () => existsSync(join(dir, "tables/datasets-000001.ndjson.gz")),
    isDone: () => existsSync(join(dir, "manifest.json")),
    undo: async () => rmSync(dir, { recursive: true }),
  };
  while (!(await kill(command, 0))) await command.undo();
  const [kept = "", damaged = ""] = readdirSync(join(dir, "models")).map((name) => join(dir, "models", name));
  writeFileSync(join(dir, "models", "model-0"), "cut off");
  flip(damaged);
  const written = () => [kept, damaged].map((file) => statSync(file).mtimeMs);
  const [before, after] = [written(), await done(...command.options).then(written)];
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
  const models = readManifest(dir).files.filter(({ name }) => name.startsWith("models/"));
  expect(models).toEqual(readManifest(at("whole")).files.filter(({ name }) => name.startsWith("models/")));
  expect(await run("restore", dir, "--check")).toMatchObject({ code: 0 });
  expect(readdirSync(dir).sort()).toEqual(readdirSync(at("whole")).sort());
  expect(readdirSync(join(dir, "models")).sort()).toEqual(readdirSync(at("whole/models")).sort());
});

/** Changes a byte in the middle of a file. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(file, bytes);
}

/** Returns the number of rows in a store. */
async function rowsOf(place: string): Promise<number> {
  const db = connect(place);
  const known = await columnsIn(db);
  let total = 0;
  for (const table of backedUpTables.filter((name) => known.has(name))) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(db);
    total += rows[0]?.n ?? 0;
  }
  await db.destroy();
  return total;
}

async function emptied(place: string): Promise<void> {
  const db = connect(place);
  for (const table of backedUpTables) await db.deleteFrom(table).execute();
  await db.destroy();
}

test.each(["a data directory", "PostgreSQL"])(
  `after ${kills} kills of a restore into %s it is empty, and the same command completes the restore`,
  async (kind) => {
    const isDirectory = kind === "a data directory";
    const target = isDirectory ? ["--data", at("restored")] : ["--store", database.url];
    const place = isDirectory ? dataDirectoryAt(at("restored")).database : database.url;
    const all = Object.values(readManifest(at("whole")).rows).reduce((sum, rows) => sum + rows);
    const db = connect(database.url);
    const isLocked = async () => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from pg_locks
        where relation = to_regclass('instance') and mode = 'AccessExclusiveLock'`.execute(db);
      return (rows[0]?.n ?? 0) > 0;
    };
    const command: Killed = {
      options: ["restore", at("whole"), ...target],
      works: (pid) => (isDirectory ? readRunning(dataDirectoryAt(at("restored")))?.pid === pid : isLocked()),
      isDone: async () => (await rowsOf(place)) > 0,
      undo: () => emptied(place),
      // PostgreSQL finishes the statement of a killed process.
      settle: async () => {
        while (!isDirectory && (await isLocked())) await sleep(2);
      },
    };
    await killOften(command, async () => expect([0, all]).toContain(await rowsOf(place)));
    const files = async () => {
      if (!isDirectory)
        return (await sql`select name, written from files order by name`.execute(db)).rows as unknown[];
      const models = at("restored/models");
      return readdirSync(models).map((name) => [name, statSync(join(models, name)).ino]);
    };
    const before = await files();
    expect(before).toHaveLength(2);
    await done(...command.options);
    expect(await files()).toEqual(before);
    await db.destroy();
    await done("export", at(`again ${kind}`), ...target);
    const { key: _, ...withoutKey } = whole;
    expect(await contentsOf(at(`again ${kind}`))).toEqual(isDirectory ? whole : withoutKey);
    const refused = await run("restore", at("whole"), ...target);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("already contains data") });
  },
);

test("a restore reports each damaged or missing file, and restores nothing", async () => {
  cpSync(at("whole"), at("damaged"), { recursive: true });
  const events = at("damaged/tables/events-000001.ndjson.gz");
  flip(events);
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

test("rejects an export to a directory that is not empty, and of a directory without data", async () => {
  const full = await run("export", at("whole"), "--data", at("data"));
  expect(full).toMatchObject({ code: 1, err: expect.stringContaining("already contains a backup") });
  const foreign = await run("export", at("data"), "--data", at("data"));
  expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining("is not empty") });
  const none = await run("export", at("none"), "--data", at("nothing"), "--json");
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining("contains no service data") });
  expect(JSON.parse(none.out)).toMatchObject({ error: { message: expect.any(String) } });
  expect(existsSync(at("none"))).toBe(false);
});

test("rejects a manifest of a newer version, or with paths outside of the backup", async () => {
  const manifest = readManifest(at("whole"));
  cpSync(at("whole"), at("odd"), { recursive: true });
  const write = (content: object) => writeFileSync(at("odd/manifest.json"), JSON.stringify(content));
  write({ ...manifest, version: manifest.version + 1 });
  const newer = await run("restore", at("odd"), "--check");
  expect(newer).toMatchObject({ code: 1, err: expect.stringContaining("by a newer version") });
  copyFileSync(at("whole/key"), at("key"));
  write({ ...manifest, files: [{ ...manifest.files[0], name: "../key" }] });
  const outside = await run("restore", at("odd"), "--check");
  expect(outside).toMatchObject({ code: 1, err: expect.stringContaining("is not the manifest of a backup") });
});
