import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { dataDirectoryAt, startService } from "../../service";
import { LogFile } from "../../service/files/log";
import { DatabaseFiles } from "../../service/files/storage/database-files";
import { askDatabase, newDatabase } from "./database";
import { ManualClock } from "./manual-clock";
import { Running } from "./running";
import { deploy, openShop, trainModel } from "./shop";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** A clock that reports when the service has cleaned up, which is when it waits for the next time. */
class TidyClock extends ManualClock {
  #tidied = () => {};

  override wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms === hourMs) this.#tidied();
    return super.wait(ms, signal);
  }

  passes(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#tidied = resolve;
      this.advance(ms);
    });
  }
}

describe("while a service runs", () => {
  test("deletes expired results, idempotency keys, old jobs and unreferenced models", async () => {
    const clock = new TidyClock();
    const api = await Running.start({ clock });
    const directory = dataDirectoryAt(api.service.dataDir);
    const shop = await openShop(api);
    const { projectId } = shop;
    const modelId = await trainModel(api, shop);
    await deploy(api, projectId, modelId);
    const groups = { projectId, modelId, name: "groups", parameters: {} };
    const { jobId } = await api.call("submitClusteringJob", groups, { headers: { "idempotency-key": "k" } });
    await api.service.idle();
    const stray = join(directory.path, "models", "model-0123456789abcdef0123");
    writeFileSync(stray, "");
    const database = new Database(directory.database, { timeout: 5000 });
    const rows = (table: string) =>
      (database.prepare(`select * from ${table}`).all() as { id: string }[]).length;
    const result = join(directory.path, "results", `${jobId}.1.json`);

    await clock.passes(hourMs);
    expect(existsSync(stray)).toBe(true);
    expect(existsSync(join(directory.path, "models", modelId))).toBe(true);
    expect(existsSync(result)).toBe(true);
    expect(rows("idempotency_keys")).toBe(1);
    await clock.passes(dayMs);
    expect(existsSync(stray)).toBe(false);
    expect(existsSync(result)).toBe(false);
    expect(rows("idempotency_keys")).toBe(0);
    expect(rows("jobs")).toBe(3);
    await clock.passes(365 * dayMs);
    const left = database.prepare("select job_type from jobs order by number").all();
    expect(left).toEqual([{ job_type: "TRAINING" }, { job_type: "DEPLOYMENT" }]);
    database.close();
    await api.end();
  });
});

test("with PostgreSQL, deletes unreferenced files that are a day old by the clock of the database", async () => {
  const database = await newDatabase();
  const dir = mkdtempSync(join(tmpdir(), "copies-"));
  const files = new DatabaseFiles({ directory: dir, url: database.url });
  const names = ["models/model-0123456789abcdef0123", "results/job-0123456789abcdef0123.1.json"];
  for (const name of names)
    await files.write(name, [Buffer.from("of a job that this database does not know")]);
  const left = async () =>
    (await Promise.all(["models/", "results/"].map((prefix) => files.list(prefix))))
      .flat()
      .map(({ name }) => name);
  const visit = async (clock: ManualClock) => {
    const service = await startService({
      log: "none",
      store: database.url,
      key: "rk_the-key-of-the-tidy",
      clock,
    });
    await service.close();
  };
  await visit(new ManualClock(Date.now() + 2 * dayMs));
  expect(await left()).toEqual(names);
  await askDatabase(database.url, "update files set written = now() - interval '25 hours'");
  await visit(new ManualClock(Date.now() - 2 * dayMs));
  expect(await left()).toEqual([]);
  files.close();
  await database.drop();
  rmSync(dir, { recursive: true });
});

describe("the log file", () => {
  const dir = mkdtempSync(join(tmpdir(), "log-"));
  const file = join(dir, "service.log");
  afterAll(() => rmSync(dir, { recursive: true }));

  test("is rotated when it is large, and one old file is kept", () => {
    const line = `${"x".repeat(999)}\n`;
    for (let round = 0; round < 5; round++) {
      const log = new LogFile(file, 10_000);
      for (let left = 8; left > 0; left--) log.write(line);
      log.end();
    }
    expect(statSync(file).size).toBe(8000);
    expect(statSync(`${file}.1`).size).toBe(16_000);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("also contains the output of the process after a rotation", () => {
    const printed = join(dir, "printed.log");
    const output = openSync(printed, "a", 0o600);
    const log = new LogFile(printed, 100);
    const say = (text: string) => {
      log.write(text);
      log.end();
    };
    say(`${"x".repeat(200)}\n`);
    writeSync(output, "printed before\n");
    say("logged\n");
    writeSync(output, "printed after\n");
    closeSync(output);
    expect(readFileSync(printed, "utf8")).toBe("logged\nprinted after\n");
    expect(readFileSync(`${printed}.1`, "utf8")).toMatch(/^x+\nprinted before\n$/);
  });

  test("drops lines that cannot be written", () => {
    const log = new LogFile("/dev/full");
    log.write("lost\n");
    log.end();
    const other = new LogFile(join(dir, "no", "such", "directory"));
    other.write("lost\n");
    other.end();
  });

  test("is written with a short delay", async () => {
    const soon = join(dir, "soon.log");
    const log = new LogFile(soon);
    log.write("here\n");
    while (!statSync(soon, { throwIfNoEntry: false })?.size) await new Promise(setImmediate);
    expect(readFileSync(soon, "utf8")).toBe("here\n");
    log.end();
  });
});
