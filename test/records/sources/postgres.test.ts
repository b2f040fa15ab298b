import { findFiles } from "../../../records/source";
import { askDatabase, newDatabase } from "../../service/database";
import { read, TestDirectory } from "../test-directory";

const directory = new TestDirectory();
let database: Awaited<ReturnType<typeof newDatabase>>;
let address: URL;
beforeAll(async () => {
  database = await newDatabase({ empty: true });
  address = new URL(database.url);
  process.env.PGPASSWORD = address.password || "unused";
  address.password = "";
  await askDatabase(
    database.url,
    `create table visits (id bigint, visitor text, at timestamptz);
     insert into visits select n, 'v' || n % 10, to_timestamp(1700000000 + n) from generate_series(1, 12000) n;
     insert into visits values (9007199254740993, 'vé', '2024-02-03 04:05:06+02')`,
  );
});
afterAll(async () => {
  await database.drop();
  directory.remove();
});

const queryUrl = (query: string, change: (url: URL) => void = () => undefined) => {
  const url = new URL(address);
  change(url);
  url.searchParams.set("query", query);
  return url.href;
};
const problemOf = (source: string) =>
  findFiles(source).then(
    () => "no problem",
    ({ message }: Error) => message,
  );

test("the rows of a query are records, with exact numbers and times in UTC", async () => {
  const source = queryUrl(
    `select 'e' || id as event_id, visitor as user_id, 'i' as item_id, at as ts, 'view' as event_type,
      id::text as big from visits order by id; -- the end`.replace("; -- the end", " -- the end"),
  );
  const { records, rejects } = await read("events", source);
  expect(rejects).toEqual([]);
  expect(records).toHaveLength(12_001);
  expect(records[0]).toMatchObject({ event_id: "e1", user_id: "v1", ts: 1_700_000_001_000 });
  expect(records.at(-1)).toMatchObject({
    event_id: "e9007199254740993",
    user_id: "vé",
    ts: Date.parse("2024-02-03T02:05:06Z"),
  });
});

test("a query that ends with a semicolon runs", async () => {
  expect((await read("users", queryUrl("select 'a' as user_id;"))).records).toEqual([
    expect.objectContaining({ user_id: "a" }),
  ]);
});

test.each<[string, string, (url: URL) => void, RegExp]>([
  ["no query", " ", () => undefined, /has no query; expected postgres:\/\/user@host/],
  [
    "a missing table",
    "select * from gone",
    () => undefined,
    /the query failed: relation "gone" does not exist \(42P01\); run it with psql/,
  ],
  [
    "invalid SQL",
    "selec 1",
    () => undefined,
    /is not valid SQL \(.*\); use one statement that returns rows$/,
  ],
  ["two statements", "select 1) r; drop table visits; select (1", () => undefined, /is not valid SQL/],
  [
    "a query that writes",
    "with x as (delete from visits returning id) select * from x",
    () => undefined,
    /the query failed: .*run it with psql|would change data/,
  ],
  [
    "a missing database",
    "select 1",
    (url) => {
      url.pathname = "/gone";
    },
    /the database gone does not exist; check the address$/,
  ],
  [
    "a password in the address",
    "select 1",
    (url) => {
      url.password = "hunter2";
    },
    /remove the password from the address, so it is not stored or logged; set PGPASSWORD instead$/,
  ],
  [
    "a server that is not running",
    "select 1",
    (url) => {
      url.port = "1";
    },
    /cannot be read from \S+ \(ECONNREFUSED\); check the address/,
  ],
])("a query fails with one sentence: %s", async (_, query, change, sentence) => {
  const problem = await problemOf(queryUrl(query, change));
  expect(problem).toMatch(sentence);
  expect(problem).toMatch(/^postgres(ql)?:\/\//);
  expect(problem).not.toMatch(/hunter2|query=(?!SELECT user_id, country)|\n/);
  expect(await askDatabase(database.url, "select count(*)::int as count from visits")).toEqual([
    { count: 12_001 },
  ]);
});

test("another format than ndjson is rejected", async () => {
  await expect(findFiles(queryUrl("select 1"), "csv")).rejects.toThrow(
    /always has the format ndjson; remove the format csv$/,
  );
});
