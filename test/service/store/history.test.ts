import { dataDirectoryAt, ManualClock } from "../../../service";
import { datasetResponse } from "../../../service/console/datasets/dataset";
import { openStore, type Store } from "../../../service/store/database";
import { countRefusals, dropRefusals, refusalsOf } from "../../../service/store/history/refusals";
import { growthFrom, growthOf, recordSizes } from "../../../service/store/history/sizes";
import type { Dataset } from "../../../service/store/tables";
import { Running } from "../running";

const dayMs = 24 * 60 * 60 * 1000;

/** Sizes on the days after the first. */
const sizes = (...records: number[]) => records.map((count, at) => ({ ts: at * dayMs, records: count }));

test.each([
  ["even growth", sizes(0, 100, 200, 300), 1300, { perDay: 100, days: 3, fullTs: 13 * dayMs }],
  ["what is full is full now", sizes(0, 100, 200, 300), 300, { perDay: 100, days: 3, fullTs: 3 * dayMs }],
  ["too far off", sizes(0, 1, 2, 3), 1_000_000, { perDay: 1, days: 3, fullTs: null }],
  ["too few days", sizes(0, 100, 200), 1000, null],
  ["one import", sizes(0, 500, 510, 520), 1000, null],
  ["a service that slept", [...sizes(0, 10), { ts: 9 * dayMs, records: 500 }], 1000, null],
  ["no growth", sizes(7, 7, 7, 7), 1000, null],
  ["fewer and fewer", sizes(9, 8, 7, 6), 1000, null],
  ["nothing known", [], 1000, null],
])("when a dataset is full: %s", (_, known, capacity, growth) => {
  expect(growthFrom(known, capacity)).toEqual(growth);
});

test("sizes are stored once a day and rejections by reason and day, and both expire, in any store", async () => {
  const running = await Running.start({ clock: new ManualClock() });
  const { userDatasetId } = await running.call("createUserDataset", { name: "users", numShards: 1 });
  const { options, service } = running;
  const store: Store = await openStore(options.store ?? dataDirectoryAt(service.dataDir).database);
  const { db } = store;
  const dataset = (await db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", userDatasetId)
    .executeTakeFirstOrThrow()) as Dataset;
  const user = (at: number) => ({ userId: `u${at}`, attributes: {} });
  for (let day = 100; day < 120; day++) {
    for (const hour of [1, 2]) await store.exclusively((all) => recordSizes(all, (day + hour / 24) * dayMs));
    await running.call("upsertDatasetUsers", { userDatasetId, users: [user(2 * day), user(2 * day + 1)] });
  }
  const noted = await db
    .selectFrom("dataset_sizes")
    .select("day")
    .where("dataset", "=", dataset.number)
    .execute();
  expect(noted.map(({ day }) => day).sort()).toEqual(Array.from({ length: 15 }, (_, at) => 105 + at));
  const now = { ts: (120 + 1 / 24) * dayMs, records: 40 };
  expect(await growthOf(db, dataset, now, 60)).toMatchObject({ perDay: 2, fullTs: now.ts + 10 * dayMs });

  const refuse = (day: number, ...reasons: string[]) =>
    store.concurrently((all) =>
      countRefusals(
        all,
        dataset,
        reasons.map((reason, at) => ({ id: `${day}-${at}`, reason })),
        day * dayMs,
      ),
    );
  await refuse(1, "old");
  await refuse(20, "bad", "bad", "worse");
  await refuse(40, "bad", "\ud800\0");
  const found = await refusalsOf(db, dataset, 40 * dayMs);
  expect(found.map(({ reason, records, last }) => [reason, records, last.map(({ id }) => id)])).toEqual([
    ["bad", 3, ["20-0", "20-1", "40-0"]],
    ["\ufffd\ufffd", 1, ["40-1"]],
    ["worse", 1, ["20-2"]],
  ]);
  await refuse(41, ...Array.from({ length: 500 }, (_, at) => `reason ${at}`));
  const many = await refusalsOf(db, dataset, 41 * dayMs);
  expect(many[0]).toMatchObject({ reason: "other reasons", records: 480, last: { length: 5 } });
  expect(many).toHaveLength(3 + 21);
  const { refusals } = await datasetResponse({ store, clock: new ManualClock(41 * dayMs) }, userDatasetId);
  expect(refusals).toMatchObject({ reasons: many.slice(0, 20), otherReasons: 4 });
  await store.exclusively((all) => dropRefusals(all, 50 * dayMs));
  const left = await db.selectFrom("refusals").select("day").distinct().execute();
  expect(left.map(({ day }) => day).sort()).toEqual([40, 41]);
  await store.close();
  await running.end();
});
