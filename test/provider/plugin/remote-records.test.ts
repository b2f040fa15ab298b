import { ObservedService } from "../../engine/observed-service";
import { userLines } from "../../records/loading";
import { WebServer } from "../../records/sources/web-server";
import type { Properties } from "./plugin-connection";
import { PluginProcess, secret } from "./plugin-process";

let observed: ObservedService;
let web: WebServer;
let plugin: PluginProcess;
let userDatasetId: string;
beforeAll(async () => {
  observed = await ObservedService.start();
  web = await WebServer.start();
  const env = { [`RECOMMENDER_SOURCE_TOKEN_127_0_0_1_${web.port}`]: "a-secret-token" };
  plugin = await PluginProcess.start(observed.config, { env });
  ({ id: userDatasetId } = await plugin.create("UserDataset", { name: "users", numShards: 1 }));
});
afterAll(async () => {
  await plugin.stop();
  await web.close();
  await observed.close();
});
beforeEach(() => web.requests());

const check = async (source: unknown, olds?: Properties, more: Properties = {}) => {
  const { inputs, failures } = await plugin.check("UserRecords", { userDatasetId, source, ...more }, olds);
  expect(failures).toEqual([]);
  return inputs;
};
const changes = async (id: string, state: Properties, news: Properties) =>
  (await plugin.diff("UserRecords", id, state, news)).changes;

test("while the server reports the same ETag, the source is not read again, on any machine", async () => {
  const url = web.serveFile("/users.ndjson", userLines(0, 100), '"1"');
  const inputs = await check(url);
  expect(web.requests()).toEqual(["GET /users.ndjson"]);
  const { id, state } = await plugin.create("UserRecords", inputs);
  expect(state).toMatchObject({ recordCount: 100, failedCount: 0 });
  // The content that was checked is uploaded. It is not downloaded again.
  expect(web.requests()).toEqual([]);
  const again = await check(url, inputs);
  expect(web.requests()).toEqual(["HEAD /users.ndjson"]);
  expect(await changes(id, state, again)).toBe(false);
  // After a refresh, the engine has the inputs that the provider has read.
  const read = await plugin.read("UserRecords", id, state);
  await check(url, read.inputs);
  expect(web.requests()).toEqual(["HEAD /users.ndjson"]);

  web.serveFile("/users.ndjson", userLines(0, 100), '"2"');
  const rewritten = await check(url, again);
  expect(web.requests()).toEqual(["HEAD /users.ndjson", "GET /users.ndjson"]);
  expect(await changes(id, state, rewritten)).toBe(false);

  web.serveFile("/users.ndjson", userLines(0, 101), '"3"');
  const changed = await check(url, rewritten);
  expect(await changes(id, state, changed)).toBe(true);
  expect(await plugin.update("UserRecords", id, state, changed)).toMatchObject({ recordCount: 101 });
  expect(JSON.stringify([inputs, state, changed])).not.toContain("a-secret-token");
});

test("an edited state cannot make changed content look unchanged", async () => {
  const url = web.serveFile("/edited.ndjson", userLines(0, 10), '"1"');
  const inputs = await check(url);
  const other = await check(web.serveFile("/other.ndjson", userLines(0, 11), '"1"'));
  web.requests();
  const checked = await check(url, { ...inputs, contentHash: other.contentHash });
  expect(checked.contentHash).toBe(inputs.contentHash);
  expect(web.requests()).toEqual(["HEAD /edited.ndjson", "GET /edited.ndjson"]);
});

test("a source without an ETag is hashed each time, and a moved source is no change", async () => {
  const url = web.serveFile("/plain.ndjson", userLines(0, 20));
  const inputs = await check(url);
  expect(inputs.__sourceVersion).toBeUndefined();
  const { id, state } = await plugin.create("UserRecords", inputs);
  expect(await changes(id, state, await check(url, inputs))).toBe(false);
  const moved = web.serveFile("/moved.ndjson", userLines(0, 20), '"1"');
  expect(await changes(id, state, await check(moved, inputs))).toBe(false);
});

test("a RemoteAsset is read like its address, and a secret address is not in the state", async () => {
  const url = web.serveFile("/asset.ndjson", userLines(0, 5), '"1"');
  const asset = {
    "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17",
    uri: url,
    hash: "x",
  };
  const inputs = await check(asset);
  expect((await plugin.create("UserRecords", inputs)).state).toMatchObject({ recordCount: 5 });
  const sealed = await check(secret(`${url}?signature=hidden`));
  expect(sealed.__sourceVersion).toBeUndefined();
  expect(sealed.source).toEqual(secret(`${url}?signature=hidden`));
});

test("a source that cannot be read fails the preview with one sentence", async () => {
  const { failures } = await plugin.check("UserRecords", { userDatasetId, source: web.url("/gone.csv") });
  expect(failures).toEqual([expect.stringMatching(/gone\.csv: does not exist \(404\); check the address/)]);
});

test("the error of a secret source does not show its address", async () => {
  const source = secret(web.url("/private/gone.csv?signature=hidden"));
  const { failures } = await plugin.check("UserRecords", { userDatasetId, source });
  expect(failures).toEqual([expect.stringMatching(/does not exist \(404\); check the address/)]);
  expect(failures.join()).not.toMatch(/private|gone|127\.0\.0\.1|hidden/);
});
