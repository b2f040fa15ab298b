import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unknownValue } from "../../../provider/run/unknown-value";
import { ObservedService } from "../../engine/observed-service";
import type { Properties } from "./plugin-connection";
import { PluginProcess, secret } from "./plugin-process";

const directory = mkdtempSync(join(tmpdir(), "recommender-records-"));
const file = join(directory, "users.csv");
writeFileSync(file, "userId,age\nu1,30\nu2,40\n");

let observed: ObservedService;
let plugin: PluginProcess;
let userDatasetId: string;
beforeAll(async () => {
  observed = await ObservedService.start();
  plugin = await PluginProcess.start(observed.config);
  ({ id: userDatasetId } = await plugin.create("UserDataset", { name: "users", numShards: 1 }));
});
afterAll(async () => {
  await plugin.stop();
  await observed.close();
  rmSync(directory, { recursive: true });
});

/** Returns an asset in Pulumi's protocol. */
const asset = (content: object) => ({
  "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17",
  ...content,
});

const load = async (properties: Properties) => {
  const { inputs, failures } = await plugin.check("UserRecords", { userDatasetId, ...properties });
  expect(failures).toEqual([]);
  return { inputs, ...(await plugin.create("UserRecords", inputs)) };
};

test.each<[string, Properties]>([
  ["a file", { source: file }],
  ["a file as an asset", { source: asset({ path: file, hash: "x" }) }],
  ["text as an asset", { source: asset({ text: "userId,age\nu3,1\nu4,2\n", hash: "x" }), format: "csv" }],
  ["the records themselves", { source: [{ userId: "u5", attributes: { age: 3 } }, { userId: "u6" }] }],
])("records of %s are uploaded, and the same records again are no change", async (_, properties) => {
  const { id, inputs, state } = await load(properties);
  expect(state).toMatchObject({
    recordCount: 2,
    failedCount: 0,
    contentHash: expect.stringMatching(/^sha256:/),
  });
  const again = await plugin.check("UserRecords", { userDatasetId, ...properties }, inputs);
  expect((await plugin.diff("UserRecords", id, state, again.inputs)).changes).toBe(false);
});

test("new content changes the hash, and the counts are unknown in a preview", async () => {
  const first = await load({ source: [{ userId: "u7" }] });
  const news = (await plugin.check("UserRecords", { userDatasetId, source: [{ userId: "u8" }] })).inputs;
  expect((await plugin.diff("UserRecords", first.id, first.state, news)).detailed).toEqual({
    contentHash: "UPDATE",
  });
  const preview = await plugin.update("UserRecords", first.id, first.state, news, { preview: true });
  expect(preview).toMatchObject({ recordCount: unknownValue, contentHash: news.contentHash });
});

test("secret records are neither in the state nor in messages", async () => {
  const { inputs, state } = await load({ source: secret([{ userId: "hush-1" }]) });
  expect(JSON.stringify([inputs, state, plugin.messages, plugin.errors])).not.toContain("hush-1");
  for (const { contentHash } of [inputs, state]) expect(contentHash).toEqual(secret(expect.any(String)));
});

test("rejected records within maxFailures are sent again only if maxFailures becomes less", async () => {
  const declared = {
    source: [{ userId: "u9" }, { userId: "too-long".repeat(100) }],
    rejectsFile: join(directory, "rejects.ndjson"),
  };
  const { id, inputs, state } = await load({ ...declared, maxFailures: 1 });
  expect(state).toMatchObject({ recordCount: 1, failedCount: 1 });
  const withLimit = async (maxFailures: number) =>
    (await plugin.check("UserRecords", { userDatasetId, ...declared, maxFailures }, inputs)).inputs;
  for (const limit of [1, 2]) {
    const { changes } = await plugin.diff("UserRecords", id, state, await withLimit(limit));
    expect(changes).toBe(false);
  }
  const strict = await withLimit(0);
  expect((await plugin.diff("UserRecords", id, state, strict)).changes).toBe(true);
  observed.calls();
  await expect(plugin.update("UserRecords", id, state, strict)).rejects.toThrow(/1 record was rejected/);
  expect(observed.calls().filter((call) => call.includes("/upsert-dataset-users"))).toHaveLength(1);
});
