import { limits } from "../../contract";
import { numShardsFor } from "../../provider";
import { type TimeUnit, timestampMs } from "../../records/mapping/timestamp";
import { read, TestDirectory } from "./test-directory";

const directory = new TestDirectory();
afterAll(() => directory.remove());

test.each([
  ["2026-11-15T10:00:00Z", Date.UTC(2026, 10, 15, 10)],
  ["2026-11-15T10:00:00+02:00", Date.UTC(2026, 10, 15, 8)],
  ["2026-11-15 10:00:00.5", Date.UTC(2026, 10, 15, 10, 0, 0, 500)],
  ["2026-11-15", Date.UTC(2026, 10, 15)],
  [new Date(5), 5],
  [1_700_000_000, 1_700_000_000_000],
  ["1700000000", 1_700_000_000_000],
  [1_700_000_000.25, 1_700_000_000_250],
  [1_700_000_000_000, 1_700_000_000_000],
  [1_700_000_000_000n, 1_700_000_000_000],
  [4_102_444_799, 4_102_444_799_000],
  [100_000_000_000, 100_000_000_000],
  ["2024-02-29", Date.UTC(2024, 1, 29)],
  [0, 0],
  [19_700_001, 19_700_001_000],
])("the time %p is %p", (value, ms) => {
  expect(timestampMs(value)).toBe(ms);
});

test.each([
  ["yesterday", 'expected an ISO date, seconds or milliseconds, received "yesterday"'],
  ["15/11/2026", 'expected an ISO date, seconds or milliseconds, received "15/11/2026"'],
  [null, "expected an ISO date, seconds or milliseconds, received null"],
  ["2025-02-30", "there is no day 2025-02-30"],
  ["2026-02-29T10:00:00+01:00", "there is no day 2026-02-29"],
  ["2026-04-31 10:00", "there is no day 2026-04-31"],
  ["2026-13-01", "there is no day 2026-13-01"],
  ["2026-11-15T25:00", "there is no time 2026-11-15T25:00"],
  [1_700_000_000_000_000, "1700000000000000 as milliseconds is in the year 55840"],
  [1_700_000_000_000_000_000n, "1700000000000000000 as milliseconds is beyond any calendar"],
  [99_999_999_999, "99999999999 as seconds is in the year 5138"],
  ["20250101", "20250101 as seconds is in 1970; write the date as 2025-01-01"],
  [20_250_101_120_000, "20250101120000 as milliseconds is in the year 2611"],
])("the time %p is rejected", (value, problem) => {
  expect(() => timestampMs(value)).toThrow(problem);
});

test.each([
  ["s", 20_250_101, 20_250_101_000],
  ["ms", 86_400_000, 86_400_000],
  ["us", "1700000000000000", 1_700_000_000_000],
  ["us", "2026-11-15", Date.UTC(2026, 10, 15)],
] satisfies [TimeUnit, unknown, number][])("in %s the time %p is %p", (unit, value, ms) => {
  expect(timestampMs(value, unit)).toBe(ms);
});

test("fields come from mapped columns, from a constant, or are computed", async () => {
  const file = directory.write(
    "orders.csv",
    "customer,sku,time,price,shop\nc1,42,2026-11-15 10:00,9.5,Ulm\n",
  );
  const mapping = {
    userId: "customer",
    itemId: "sku",
    ts: "time",
    eventType: { value: "buy" },
    eventValue: "price",
  };
  const ts = Date.UTC(2026, 10, 15, 10);
  const order = {
    event_id: `c1:42:${ts}`,
    user_id: "c1",
    item_id: "42",
    ts,
    event_type: "buy",
    event_value: 9.5,
  };
  expect((await read("events", file, { mapping })).records).toEqual([
    { ...order, attributes: { shop: "Ulm" } },
  ]);
  const without = { ...mapping, attributes: [] };
  expect((await read("events", file, { mapping: without })).records).toEqual([{ ...order, attributes: {} }]);
});

test("attributes from one column exclude the other columns", async () => {
  const file = directory.write("props.ndjson", '{"item_id":1,"props":{"a":1},"b":2}\n');
  const { records } = await read("items", file, { mapping: { attributes: "props" } });
  expect(records).toEqual([{ item_id: "1", attributes: { a: 1 } }]);
});

test("a column named __proto__ becomes a normal attribute", async () => {
  const file = directory.write("proto.ndjson", '{"item_id":"1","__proto__":{"a":1}}\n');
  const { records } = await read("items", file);
  expect(JSON.stringify(records)).toBe('[{"item_id":"1","attributes":{"__proto__":{"a":1}}}]');
});

test("a value that is not a time is rejected, with the reason", async () => {
  const file = directory.write(
    "times.ndjson",
    '{"user_id":"u","item_id":"i","event_type":"t","ts":"soon"}\n',
  );
  const { rejects } = await read("events", file);
  expect(rejects).toMatchObject([
    { line: 1, reason: 'ts: expected an ISO date, seconds or milliseconds, received "soon"' },
  ]);
});

test("a time with an ambiguous unit is rejected, unless the mapping sets the unit", async () => {
  const file = directory.write("micro.csv", "user_id,item_id,event_type,ts\nu,i,t,1700000000000000\n");
  const { records, rejects } = await read("events", file);
  expect(records).toEqual([]);
  expect(rejects).toMatchObject([
    { line: 2, reason: expect.stringMatching(/^ts: 1700000000000000 as milliseconds .*set its unit/) },
  ]);
  const inMicroseconds = await read("events", file, { mapping: { tsUnit: "us" } });
  expect(inMicroseconds.records).toMatchObject([{ ts: 1_700_000_000_000 }]);
});

test.each([
  [0, 10],
  [1_000_000, 10],
  [1_000_001, 11],
  [1_100_000, 11],
  [25 * limits.recordsPerShard, 25],
])("%d records need %d shards", (records, shards) => {
  expect(numShardsFor(records)).toBe(shards);
});

test("computed ids stay unique if user and item ids contain colons", async () => {
  const row = { ts: 1_700_000_000_000, event_type: "t" };
  const lines = [
    { ...row, user_id: "a:b", item_id: "c" },
    { ...row, user_id: "a", item_id: "b:c" },
    { ...row, user_id: "a%3Ab", item_id: "c" },
    { ...row, user_id: "plain", item_id: "too" },
  ];
  const file = directory.write("colons.ndjson", lines.map((line) => JSON.stringify(line)).join("\n"));
  const { records } = await read("events", file);
  expect(records.map(({ event_id }) => event_id)).toEqual([
    "a%3Ab:c:1700000000000",
    "a:b%3Ac:1700000000000",
    "a%253Ab:c:1700000000000",
    "plain:too:1700000000000",
  ]);
});
