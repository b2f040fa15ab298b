import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Loading, userLines } from "./loading";
import { runCommand } from "./run-command";

let loading: Loading;
beforeAll(async () => {
  loading = await Loading.start();
});
afterAll(() => loading.end());
beforeEach(() => loading.observed.faults({}));

const recommender = (args: string[], killAfterUpserts?: number) =>
  runCommand(loading, args, { killAfterUpserts });

test("an import sends the records, and the second import makes no call", async () => {
  const id = await loading.dataset("users");
  loading.directory.write("users.ndjson.gz", gzipSync(userLines(0, 3000)));
  const command = ["import", "users", "users.ndjson.gz", "--dataset", id];
  const first = await recommender(command);
  expect(first).toMatchObject({ code: 0, stderr: "", upserts: 3 });
  expect(first.stdout).toMatch(/^Imported 3,000 users into \S+\nin [\d.]+ s, [\d,]+ per second\n$/);
  const second = await recommender([...command, "--json"]);
  expect(second).toMatchObject({ code: 0, upserts: 0 });
  expect(JSON.parse(second.stdout)).toMatchObject({ recordCount: 3000, failedCount: 0, sentCount: 0 });
  expect(await recommender([...command, "--force"])).toMatchObject({ code: 0, upserts: 3 });
  expect(await loading.recordCount(id)).toBe(3000);
});

test("after a killed import, the next one sends the missing records", async () => {
  const id = await loading.dataset("users", 10);
  loading.directory.write("many.ndjson", userLines(0, 120_000, { note: "n".repeat(50) }));
  const command = ["import", "users", "many.ndjson", "--dataset", id, "--json"];
  let sent = 0;
  for (const enough of [20, 40]) {
    const killed = await recommender(command, enough);
    expect(killed).toMatchObject({ code: null, signal: "SIGKILL", stdout: "" });
    sent += killed.upserts;
  }
  const last = await recommender(command);
  expect(last.code).toBe(0);
  expect(JSON.parse(last.stdout)).toMatchObject({ recordCount: 120_000, failedCount: 0 });
  expect(await loading.recordCount(id)).toBe(120_000);
  // Only batches in flight at the kill are sent twice: at most eight each time.
  expect(sent + last.upserts).toBeGreaterThanOrEqual(120);
  expect(sent + last.upserts).toBeLessThanOrEqual(120 + 2 * 8);
});

test("rejected records cause exit code 2 and a rejects file", async () => {
  const id = await loading.dataset("users");
  loading.directory.write("bad.csv", "user_id,age\na,1\n,2\n");
  const command = ["import", "users", "bad.csv", "--dataset", id];
  const refused = await recommender(command);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(
    /^1 record was rejected, but --max-failures is 0\..*bad\.csv:3: user_id: .*recommender-rejects-bad\.csv\.ndjson/,
  );
  expect(readFileSync(join(loading.directory.path, "recommender-rejects-bad.csv.ndjson"), "utf8")).toContain(
    '"line":3',
  );
  const allowed = await recommender([...command, "--max-failures", "1", "--rejects", "r.ndjson", "--force"]);
  expect(allowed).toMatchObject({ code: 0, stderr: "The rejected records are in r.ndjson\n" });
  expect(existsSync(join(loading.directory.path, "r.ndjson"))).toBe(true);
});

test("events are mapped, and a dataset that is too small is an error", async () => {
  const id = await loading.dataset("events");
  loading.directory.write("orders.csv", "who,what,when\nann,1,2026-11-15\nbob,2,1700000000\n");
  const mapped = [
    "--map",
    "userId=who",
    "--map",
    "itemId=what",
    "--map",
    "ts=when",
    "--set",
    "eventType=buy",
  ];
  expect(await recommender(["import", "events", "orders.csv", "--dataset", id, ...mapped])).toMatchObject({
    code: 0,
  });
  expect(await loading.recordCount(id)).toBe(2);
  const wrong = await recommender(["import", "events", "orders.csv", "--dataset", id, "--map", "user=who"]);
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/user is unknown; did you mean userId\? Fields: eventId, /),
  });
  const users = await loading.dataset("users");
  const ofUsers = ["import", "users", "orders.csv", "--dataset", users, "--map", "userId=who"];
  expect(await recommender([...ofUsers, "--map", "attributes=props"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has no column props/),
  });

  const rows = Array.from(
    { length: 100_500 },
    (_, at) => `{"user_id":"u${at}","item_id":"i","ts":${at},"event_type":"t"}\n`,
  );
  loading.directory.write("large.ndjson", rows.join(""));
  const large = await recommender(["import", "events", "large.ndjson", "--dataset", id]);
  expect(large).toMatchObject({
    code: 1,
    upserts: 0,
    stderr: expect.stringMatching(/1 shard holds 100,000/),
  });
});

test("unusual content arrives unchanged, and invalid content is reported with file and line", async () => {
  const id = await loading.dataset("events");
  const row = '{"user_id":"Žofie 🎻","item_id":"a\\nb","ts":1700000000,"event_type":"t"}';
  const large = JSON.stringify({
    user_id: "u",
    item_id: "i",
    ts: 1,
    event_type: "t",
    note: "x".repeat(25_000),
  });
  loading.directory.write(
    "odd.csv",
    '\ufeffuser_id,item_id,ts,event_type,note\r\n"o""hara","a\nb",1700000000,t,"two\r\nlines"\r\n\r\n李,"x, y",2026-11-15,t,\r\n',
  );
  loading.directory.write("odd.ndjson", `\ufeff${row}\n\n${row}\r\n${large}\n`);
  loading.directory.write(
    "odd.json",
    `[\n${row},\n  {"user_id": "]\\"", "item_id": "[", "ts": 5, "event_type": "t"}\n]`,
  );
  loading.directory.write("cut.ndjson.gz", gzipSync(`${row}\n`.repeat(5000)).subarray(0, 200));

  const into = ["--dataset", id];
  expect(await recommender(["import", "events", "odd.csv", ...into])).toMatchObject({ code: 0 });
  expect(await loading.recordCount(id)).toBe(2);
  // The same event twice, and one that is too large.
  expect(await recommender(["import", "events", "odd.ndjson", ...into])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^1 record was rejected.*odd\.ndjson:4: the event has 25\d{3} bytes/),
  });
  expect(await loading.recordCount(id)).toBe(3);
  expect(await recommender(["import", "events", "odd.json", ...into])).toMatchObject({ code: 0 });
  expect(await loading.recordCount(id)).toBe(4);
  expect(await recommender(["import", "events", "cut.ndjson.gz", ...into])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^cut\.ndjson\.gz: the gzip file is incomplete after line \d+/),
  });
});

test("imports Parquet, plain and compressed", async () => {
  const path = join(loading.directory.path, "events.parquet");
  const command = ["--require", require.resolve("tsx/cjs"), require.resolve("./parquet-file"), path];
  const writer = spawn(process.execPath, command, { stdio: "inherit" });
  await new Promise((resolve) => writer.once("close", resolve));
  for (const name of ["events.parquet", "events.parquet.gz"]) {
    const id = await loading.dataset("events");
    const command = [
      "import",
      "events",
      name,
      "--dataset",
      id,
      "--max-failures",
      "1",
      "--rejects",
      "p.ndjson",
    ];
    expect(await recommender([...command, "--json"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/"recordCount":2,"failedCount":1/),
    });
    expect(await loading.recordCount(id)).toBe(2);
    const [reject] = readFileSync(join(loading.directory.path, "p.ndjson"), "utf8").trim().split("\n");
    expect(JSON.parse(reject as string)).toMatchObject({
      source: name,
      line: 3,
      reason: expect.stringContaining("event_type"),
    });
  }
  loading.directory.write("not.parquet", "PAR1 this is none PAR1");
  const broken = await recommender(["import", "events", "not.parquet", "--dataset", "d", "--shards", "1"]);
  expect(broken).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^not\.parquet: cannot be read as Parquet/),
  });
});

test("--help shows examples and exit codes", async () => {
  const { code, stdout } = await recommender(["import", "--help"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Exit codes:[\s\S]*Examples:/);
});

test("the package loads format readers only when it reads a source", async () => {
  const script = 'require("./dist/provider"); console.log(Object.keys(require.cache).join("\\n"))';
  const child = spawn(process.execPath, ["-e", script], { cwd: join(__dirname, "../..") });
  let loaded = "";
  for await (const text of child.stdout) loaded += text;
  expect(loaded).toContain("event-records.js");
  expect(loaded).not.toMatch(/node_modules.(csv-parse|hyparquet|tinyglobby|cli-progress|fastify|libsql)/);
});
