import { dataDirectoryAt } from "../../../service";
import { datasetResponse } from "../../../service/console/datasets/dataset";
import { openStore, type Store } from "../../../service/store/database";
import { countRefusals, dropRefusals, refusalsOf } from "../../../service/store/history/refusals";
import type { Dataset } from "../../../service/store/tables";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";

const dayMs = 24 * 60 * 60 * 1000;

test("rejections are stored by reason and day, and expire, in any store", async () => {
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
