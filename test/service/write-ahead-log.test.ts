import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { dataDirectoryAt } from "../../service";
import { connect, openStore, type Store } from "../../service/store/database";
import { copyLog, longLogBytes, scrub } from "../../service/store/write-ahead-log";
import { ManualClock } from "./manual-clock";
import { Running } from "./running";

const directory = mkdtempSync(join(tmpdir(), "log-"));
const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ending.reverse()) await end();
  rmSync(directory, { recursive: true });
});

const rowBytes = 8 * 1024 * 1024;
const rows = Math.ceil((longLogBytes * 1.1) / rowBytes);

const fill = (store: Store) =>
  store.concurrently((db) => sql`insert into filler values (zeroblob(${sql.lit(rowBytes)}))`.execute(db));

test("commits do not copy a long log, and writes wait while the thread empties it", async () => {
  const file = join(directory, "database.sqlite");
  const store = await openStore(file, { hasLogThread: true });
  await store.concurrently((db) => sql`create table filler (data blob)`.execute(db));
  const before = statSync(file).size;
  for (let row = 0; row < rows; row++) await fill(store);
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(longLogBytes);
  expect(statSync(file).size).toBe(before);

  const thread = connect(file);
  await copyLog(thread);
  expect(statSync(file).size).toBeGreaterThan(before);
  let later: Promise<unknown> = Promise.resolve();
  await store.holdWrites(async () => {
    later = fill(store);
    // A write has to wait, because its lock would prevent emptying the log.
    expect(await scrub(thread)).toBe(true);
    expect(statSync(`${file}-wal`).size).toBe(0);
  });
  await later;
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
  await thread.destroy();
  await store.close();
});

test("a connection whose transaction had to wait for another one does not prevent emptying the log", async () => {
  const file = join(directory, "busy.sqlite");
  const store = await openStore(file);
  const waiting = connect(file, { writes: true });
  const read = () => sql`select count(*) from datasets`.execute(waiting);
  await store.concurrently(async (db) => {
    await sql`create table filler (data blob)`.execute(db);
    await expect(waiting.transaction().execute(read)).rejects.toThrow("locked");
    await read();
  });
  await read();
  await fill(store);
  const thread = connect(file);
  expect(await scrub(thread)).toBe(true);
  await Promise.all([thread.destroy(), waiting.destroy(), store.close()]);
});

/** A clock that reports when the service has checked its log, which is when it waits for the next time. */
class LogClock extends ManualClock {
  #checked = () => {};

  override wait(ms: number, signal?: AbortSignal): Promise<void> {
    const waiting = super.wait(ms, signal);
    if (ms === 1000) this.#checked();
    return waiting;
  }

  check(): Promise<void> {
    return new Promise((resolve) => {
      this.#checked = resolve;
      this.advance(1000);
    });
  }
}

test("a running service empties its log only when it is long", async () => {
  const clock = new LogClock();
  const api = await Running.start({ clock });
  ending.push(() => api.end());
  const file = dataDirectoryAt(api.service.dataDir).database;
  const other = await openStore(file, { hasLogThread: true });
  ending.push(() => other.close());
  await other.concurrently((db) => sql`create table filler (data blob)`.execute(db));
  const short = statSync(`${file}-wal`).size;
  await clock.check();
  expect(statSync(`${file}-wal`).size).toBeGreaterThanOrEqual(short);
  for (let row = 0; row < rows; row++) await fill(other);
  await clock.check();
  expect(statSync(`${file}-wal`).size).toBeLessThan(longLogBytes / 100);
});
