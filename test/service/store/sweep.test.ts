import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "../../../service/store/database";
import { lastSeqIn } from "../../../service/store/events";
import { deleteUserEvents } from "../../../service/store/sweep";
import type { Dataset } from "../../../service/store/tables";
import { Walks } from "../../../service/store/walks";
import { newDatabase, testStore } from "../database";
import { ManualClock } from "../manual-clock";

describe("deleting the events of a user", () => {
  let store: Store;
  let drop: () => Promise<void>;
  const dataset: Dataset = {
    ...{ id: "event-dataset-1", number: 1, kind: "event", name: "events", num_shards: 1 },
    ...{
      attribute_schema: null,
      deletions: 0,
      created_ts: 0,
      changes: 0,
      last_uploads: null,
      replaced_uploads: null,
    },
  };
  beforeEach(async () => {
    if (testStore === "postgres") {
      const database = await newDatabase();
      store = await openStore(database.url);
      drop = () => database.drop();
    } else {
      const directory = mkdtempSync(join(tmpdir(), "sweep-"));
      store = await openStore(join(directory, "data.db"));
      drop = async () => rmSync(directory, { recursive: true });
    }
    await store.exclusively((db) => db.insertInto("datasets").values(dataset).execute());
    for (let from = 0; from < 5000; from += 500) await write(from, from + 500);
  });
  afterEach(async () => {
    await store.close();
    await drop();
  });

  async function write(from: number, to: number): Promise<void> {
    const rows = Array.from({ length: to - from }, (_, at) => ({
      ...{ dataset: 1, event_id: `e${from + at}`, user_id: `u${(from + at) % 2}`, item_id: "i", ts: 1 },
      ...{ event_type: "view", event_value: 1, attributes: "{}" },
    }));
    // Both databases number the rows themselves.
    await store.concurrently((db) =>
      db
        .insertInto("events")
        .values(rows as never)
        .execute(),
    );
  }

  /** Calls that delete the events of u1, and the number of transactions that they took together. */
  function deleting(onFirst: () => Promise<void> = async () => undefined) {
    const counted = { transactions: 0 };
    const counting =
      (run: Store["concurrently"]): Store["concurrently"] =>
      async (work) => {
        if (counted.transactions++ === 0) await onFirst();
        return run(work);
      };
    const counter = { concurrently: counting(store.concurrently), exclusively: counting(store.exclusively) };
    const still = new AbortController().signal;
    const shared = { closing: still, walks: new Walks<number>(new ManualClock()), leaving: () => still };
    const call = async () => {
      const last = await lastSeqIn(store.db);
      const own = { ...shared, store: { ...store, ...counter }, lastSeq: () => last };
      await deleteUserEvents(own, dataset, "u1", () => undefined);
    };
    return { call, counted };
  }

  const left = async () =>
    (await store.db.selectFrom("events").select("event_id").where("user_id", "=", "u1").execute()).length;

  test("walks over them once, even if the call is repeated meanwhile", async () => {
    const once = deleting();
    await once.call();
    expect(await left()).toBe(0);
    for (let from = 5000; from < 10_000; from += 500) await write(from, from + 500);
    const repeated = deleting();
    await Promise.all(Array.from({ length: 5 }, () => repeated.call()));
    expect(await left()).toBe(0);
    expect(repeated.counted).toEqual(once.counted);
  });

  test("includes events that were written after the walk that a repeated call joins had begun", async () => {
    const joined: Promise<void>[] = [];
    const { call } = deleting(async () => {
      await write(5000, 5010);
      joined.push(call());
    });
    await call();
    await Promise.all(joined);
    expect(await left()).toBe(0);
  });
});
