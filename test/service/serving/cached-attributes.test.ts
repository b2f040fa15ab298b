import { CachedAttributes } from "../../../service/serving/cached-attributes";

/** Records whose reads are counted and can be delayed. */
function table(records: Record<string, object>) {
  const asked: string[] = [];
  let held: Promise<void> | undefined;
  return {
    asked,
    hold(until: Promise<void>) {
      held = until;
    },
    read: async (ids: readonly string[]) => {
      asked.push(...ids);
      const rows = ids.flatMap((id) =>
        records[id] ? [{ record_id: id, attributes: JSON.stringify(records[id]) }] : [],
      );
      await held;
      return rows;
    },
  };
}

test("attributes are read once, and again after a write", async () => {
  const records: Record<string, object> = { a: { n: 1 } };
  const { read, asked } = table(records);
  const kept = new CachedAttributes(read);
  for (let call = 0; call < 2; call++)
    expect(Object.fromEntries(await kept.of(["a", "none"]))).toEqual({ a: { n: 1 }, none: {} });
  expect(asked).toEqual(["a", "none"]);
  records.a = { n: 2 };
  kept.changed(["a"]);
  expect((await kept.of(["a"])).get("a")).toEqual({ n: 2 });
});

test("attributes that are written during a read are read again", async () => {
  const records: Record<string, object> = { a: { n: 1 } };
  const { read, hold } = table(records);
  const kept = new CachedAttributes(read);
  let go = () => {};
  hold(new Promise((resolve) => (go = resolve)));
  const first = kept.of(["a"]);
  records.a = { n: 2 };
  kept.changed(["a"]);
  go();
  await first;
  expect((await kept.of(["a"])).get("a")).toEqual({ n: 2 });
});

test("the cache stays within its limit, and every response is complete", async () => {
  const records = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`i${at}`, { text: "x".repeat(100) }]),
  );
  const { read, asked } = table(records);
  const kept = new CachedAttributes(read, 1000);
  for (let from = 0; from < 30; from++) {
    const ids = Array.from({ length: 6 }, (_, at) => `i${from + at}`);
    expect([...(await kept.of(ids)).values()]).toEqual(ids.map((id) => records[id]));
  }
  for (let call = 0; call < 2; call++) {
    asked.length = 0;
    await kept.of(Object.keys(records));
    // Nine records are within the limit. A full cache drops the oldest records, not all.
    expect(asked).toHaveLength(40 - 8);
  }
});

test("items that are written repeatedly are counted once", async () => {
  const records = Object.fromEntries(["a", "b", "c"].map((id) => [id, { text: "x".repeat(100) }]));
  const { read, asked } = table(records);
  const kept = new CachedAttributes(read, 1000);
  for (let call = 0; call < 50; call++) {
    await kept.of(["a", "b"]);
    kept.changed(["a"]);
  }
  expect(asked.filter((id) => id === "b")).toHaveLength(1);
});
