import { askDatabase, newDatabase } from "./database";
import { eventually } from "./jobs/watched";
import { Running } from "./running";
import { openShop } from "./shop";

const events = 100_000;
let database: Awaited<ReturnType<typeof newDatabase>>;
beforeAll(async () => {
  database = await newDatabase();
});
afterAll(() => database.drop());
const ask = <T>(statement: string) => askDatabase<T>(database.url, statement);

/** Returns the number of event rows that were read. Sessions report it when they end. */
async function rowsRead(): Promise<number> {
  await eventually(
    async () =>
      (
        await ask(
          "select from pg_stat_activity where application_name = 'recommender' and datname = current_database()",
        )
      ).length === 0,
  );
  const [row] = await ask<{ rows: string }>(
    `select seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'events') as rows
     from pg_stat_user_tables where relname = 'events'`,
  );
  return Number(row?.rows);
}

test("reads the events once for repeated calls of the same deletion", async () => {
  const start = () => Running.start({ store: database.url, key: "rk_the-key-of-the-walks" }, "directory");
  const first = await start();
  const { eventDatasetId } = await openShop(first);
  await ask(`insert into events (dataset, event_id, user_id, item_id, ts, event_type, event_value, attributes)
    select number, 'more' || n, 'u' || n % 2000, 'i' || n % 300, 1700000000000 + n, 'view', 1, '{}'
    from datasets, generate_series(1, ${events}) n where kind = 'event'`);
  await ask("vacuum analyze events");
  await first.end();
  const readBy = async (calls: number) => {
    const before = await rowsRead();
    const api = await start();
    const deletion = () => api.call("deleteDatasetEventsBeforeTs", { eventDatasetId, ts: 1_600_000_000_000 });
    await Promise.all(Array.from({ length: calls }, deletion));
    await api.end();
    return (await rowsRead()) - before;
  };
  // The first start also builds an index.
  await readBy(1);
  const once = await readBy(1);
  expect(once).toBeGreaterThanOrEqual(events);
  expect(await readBy(5)).toBeLessThan(1.5 * once);
});
