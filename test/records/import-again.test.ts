import { Loading, userLines } from "./loading";
import { runCommand } from "./run-command";

let loading: Loading;
beforeAll(async () => {
  loading = await Loading.start();
});
afterAll(() => loading.end());

const event = (user: string, ts: number) =>
  `${JSON.stringify({ user_id: user, item_id: "i", ts, event_type: "buy" })}\n`;
const run = (...args: string[]) => runCommand(loading, args);

test.each([
  ["events prune", (id: string) => ["events", "prune", "--before", "2024-01-01", "--dataset", id, "--yes"]],
  ["events forget-user", (id: string) => ["events", "forget-user", "ada", "--dataset", id, "--yes"]],
])("an import after `%s` restores the deleted records", async (_, deletion) => {
  const id = await loading.dataset("events");
  const name = `acts-${id}.ndjson`;
  loading.directory.write(name, event("ada", 1_600_000_000) + event("ben", 1_800_000_000));
  const command = ["import", "events", name, "--dataset", id];
  expect(await run(...command)).toMatchObject({ code: 0, upserts: 1 });
  expect(await run(...command)).toMatchObject({ code: 0, upserts: 0 });
  expect(await run(...deletion(id))).toMatchObject({ code: 0 });
  expect(await loading.recordCount(id)).toBe(1);
  expect(await run(...command)).toMatchObject({ code: 0, upserts: 1 });
  expect(await loading.recordCount(id)).toBe(2);
  expect(await run(...command)).toMatchObject({
    code: 0,
    upserts: 0,
    stdout: expect.stringMatching(/^Nothing to do/),
  });
});

test("the records of the last import win if two files share ids", async () => {
  const id = await loading.dataset("users");
  loading.directory.write("first.ndjson", userLines(0, 3, { from: "first" }));
  loading.directory.write("second.ndjson", userLines(2, 5, { from: "second" }));
  const importOf = (name: string) => run("import", "users", name, "--dataset", id);
  await importOf("first.ndjson");
  await importOf("second.ndjson");
  expect(await loading.attributes(id, "u2")).toEqual({ from: "second" });
  expect(await importOf("first.ndjson")).toMatchObject({ code: 0, upserts: 1 });
  expect(await loading.attributes(id, "u2")).toEqual({ from: "first" });
});

test.each([
  ["the name of this machine", (url: string) => url.replace("127.0.0.1", "localhost")],
  ["capital letters", (url: string) => url.replace("http:", "HTTP:")],
  ["a short IP address", (url: string) => url.replace("127.0.0.1", "127.1")],
  ["a slash at the end", (url: string) => `${url}/`],
])(
  "an import through another spelling of the address counts as a write to the dataset: %s",
  async (_, spell) => {
    const id = await loading.dataset("users");
    loading.directory.write("first.ndjson", userLines(0, 3, { from: "first" }));
    loading.directory.write("second.ndjson", userLines(0, 3, { from: "second" }));
    const importOf = (name: string, env = {}) =>
      runCommand(loading, ["import", "users", name, "--dataset", id], { env });
    await importOf("first.ndjson");
    const { RECOMMENDER_BASE_URL: url = "" } = loading.observed.environment as Record<string, string>;
    await importOf("second.ndjson", { RECOMMENDER_BASE_URL: spell(url) });
    expect(await loading.attributes(id, "u2")).toEqual({ from: "second" });
    expect(await importOf("first.ndjson")).toMatchObject({ code: 0, upserts: 1 });
    expect(await loading.attributes(id, "u2")).toEqual({ from: "first" });
  },
);

test("an import with another API key is not skipped, because the account may differ", async () => {
  const id = await loading.dataset("users");
  loading.directory.write("same.ndjson", userLines(0, 3));
  const importWith = (env: Record<string, string>) =>
    runCommand(loading, ["import", "users", "same.ndjson", "--dataset", id], { env });
  expect(await importWith({})).toMatchObject({ code: 0, upserts: 1 });
  const other = await loading.observed.environmentOf("other", "read", "write");
  expect(await importWith(other)).toMatchObject({ code: 0, upserts: 1 });
  expect(await importWith(other)).toMatchObject({ code: 0, upserts: 0 });
  // To the first account, the upload of the other one is an unknown write.
  expect(await importWith({})).toMatchObject({ code: 0, upserts: 1 });
});
