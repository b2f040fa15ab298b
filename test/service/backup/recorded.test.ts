import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { startService, systemClock } from "../../../service";
import { readManifest } from "../../../service/backup/manifest";
import { newDatabase } from "../database";
import { Caller } from "../running";
import { contentsOf, done } from "./contents";

const recorded = join(__dirname, "../../engine/data-v1");
const directory = mkdtempSync(join(tmpdir(), "recorded-"));
const at = (name: string) => join(directory, name);
afterAll(() => rmSync(directory, { recursive: true }));

test("a data directory of 0.1.0 is exported unchanged, restored into PostgreSQL, and recommends the same", async () => {
  cpSync(recorded, at("data"), { recursive: true });
  const file = new Database(at("data/data.db"));
  file.exec(readFileSync(at("data/data.sql"), "utf8"));
  const [{ ts }] = file.prepare("select max(created_ts) ts from jobs").all() as [{ ts: number }];
  const tables = () => file.prepare("select sql from sqlite_master order by name").all();
  const before = tables();
  rmSync(at("data/data.sql"));
  // Every data directory has a lock file, but the recorded one leaves out files that are created at each start.
  new Database(at("data/lock")).exec("create table held (x)");

  await done("export", at("backup"), "--data", at("data"));
  expect(tables()).toEqual(before);
  file.close();
  const [model = ""] = readManifest(at("backup")).files.flatMap(({ name }) =>
    name.startsWith("models/") ? name : [],
  );
  expect(readFileSync(join(at("backup"), model)).toString("latin1", 0, 8)).toBe("recmodel");
  const database = await newDatabase();
  await done("restore", at("backup"), "--store", database.url);

  const age = systemClock.now() - ts;
  const clock = { ...systemClock, now: () => systemClock.now() - age };
  const answers = [];
  for (const where of [{ dataDir: at("data") }, { store: database.url, key: "rk_the-key-of-the-tests" }]) {
    const service = await startService({ ...where, clock, log: "none" });
    const api = new Caller(service);
    const models = [];
    for (const userId of ["u", "v", "nobody"])
      models.push(await api.call("recommendItemsToUser", { userId }));
    answers.push(models.map(({ results }) => results));
    await api.close();
    await service.close();
  }
  expect(answers[1]).toEqual(answers[0]);
  await database.drop();
});

test("exports and restores a service without data", async () => {
  const service = await startService({ dataDir: at("empty"), log: "none" });
  await service.close();
  await done("export", at("empty backup"), "--data", at("empty"));
  await done("restore", at("empty backup"), "--data", at("empty again"));
  await done("export", at("empty backup again"), "--data", at("empty again"));
  expect(await contentsOf(at("empty backup again"))).toEqual(await contentsOf(at("empty backup")));
  expect(readManifest(at("empty backup again")).instanceId).toBe(readManifest(at("empty backup")).instanceId);
});
