import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { limits } from "../../../contract";
import { Caller, Running } from "../running";

describe("bodies", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start();
  });
  afterAll(() => api.end());

  const path = "/create-event-dataset";
  const good = JSON.stringify({ name: "packed", num_shards: 1, attribute_schema: null });
  const post = async (body: string | Buffer, headers: Record<string, string> = {}) =>
    api.raw(path, {
      method: "POST",
      headers: { ...(await api.headers(path)), "content-type": "application/json", ...headers },
      body,
    });

  test("gzip bodies are read", async () => {
    expect((await post(gzipSync(good), { "content-encoding": "gzip" })).status).toBe(200);
  });

  const levels = (depth: number) => Buffer.from(`${"[".repeat(depth)}${"]".repeat(depth)}`);

  test.each([
    ["not gzip", Buffer.from(good), { "content-encoding": "gzip" }, 400],
    ["cut gzip", gzipSync(good).subarray(0, 20), { "content-encoding": "gzip" }, 400],
    ["another coding", Buffer.from(good), { "content-encoding": "br" }, 415],
    ["another type", Buffer.from(good), { "content-type": "text/plain" }, 415],
    ["no JSON", Buffer.from('{"name":'), {}, 400],
    ["nothing", Buffer.from(""), {}, 400],
    ["text that is not UTF-8", Buffer.from(good.replace("packed", "M\u00fcller"), "latin1"), {}, 400],
    ["another charset", Buffer.from(good), { "content-type": "application/json; charset=latin1" }, 415],
    ["more than a megabyte", Buffer.from(`${good}${" ".repeat(1024 * 1024)}`), {}, 413],
    [
      "more than a megabyte compressed",
      gzipSync(Buffer.alloc(1024 ** 2 + 1, " ")),
      { "content-encoding": "gzip" },
      413,
    ],
    ["more levels than can be read", levels(limits.bodyDepth + 1), {}, 400],
  ] as const)("%s is rejected", async (_, body, headers, status) => {
    expect(await post(body, headers)).toMatchObject({
      status,
      body: { error: { code: expect.any(String) } },
    });
  });

  const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join();
  const upsert = async (body: string, headers: Record<string, string> = {}) => {
    const path = "/upsert-dataset-users";
    return api.raw(path, {
      method: "POST",
      headers: { ...(await api.headers(path)), "content-type": "application/json", ...headers },
      body: headers["content-encoding"] ? gzipSync(body) : body,
    });
  };

  test.each([
    ["one object of many unknown keys", () => `{${keys(1_500_000)}}`, limits.recordValues],
    ["one record of many unknown keys", () => `{"users":[{${keys(1_000_000)}}]}`, limits.recordValues],
    ["a list of many numbers", () => `{"users":[${"1,".repeat(11_000_000)}1]}`, limits.recordValues],
    ["many empty records", () => `{"users":[${"{},".repeat(1_000_000)}{}]}`, limits.recordValues],
    ["many records of many keys", () => `{"users":[${`{${keys(1100)}},`.repeat(999)}{}]}`, limits.bodyValues],
  ])("%s is rejected before it is parsed, compressed or not", async (_, body, limit) => {
    const parse = jest.spyOn(JSON, "parse");
    for (const headers of [{}, { "content-encoding": "gzip" }]) {
      const { status, body: answer } = await upsert(body(), headers as Record<string, string>);
      expect([status, answer.error.message]).toEqual([413, expect.stringContaining(String(limit))]);
    }
    expect(Math.max(...parse.mock.calls.map(([text]) => String(text).length))).toBeLessThan(100_000);
    parse.mockRestore();
  });

  test("a large body is parsed like JSON.parse does", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "large", numShards: 1 });
    const users = Array.from({ length: 1000 }, (_, at) => ({
      user_id: `u${at}`,
      attributes: {
        text: `"[{,:\\\u00fc${"x".repeat(at)}`,
        list: [[at], { at, empty: [] }],
        __proto__x: null,
      },
    }));
    const odd = [17, null, "text", [["deep"]], {}];
    const text = JSON.stringify({ user_dataset_id: userDatasetId, users: [...users.slice(0, 995), ...odd] });
    const { status, body } = await upsert(text, { "content-encoding": "gzip" });
    expect(status).toBe(200);
    expect([body.succeed_ids.length, body.failures.map(({ index }: { index: number }) => index)]).toEqual([
      995,
      [995, 996, 997, 998, 999],
    ]);
    const rows = (await api.ask("select record_id, attributes from records")) as {
      record_id: string;
      attributes: string;
    }[];
    const kept = new Map(rows.map(({ record_id, attributes }) => [record_id, JSON.parse(attributes)]));
    for (const { user_id, attributes } of users.slice(0, 995)) expect(kept.get(user_id)).toEqual(attributes);
    expect((await upsert(`${text.slice(0, -3)}}]`)).status).toBe(400);
    expect((await upsert(text.replace('"u500"', '"u500'))).status).toBe(400);
  });

  test("concurrent uploads of the largest events succeed", async () => {
    const { eventDatasetId } = await api.call("createEventDataset", { name: "large", numShards: 1 });
    const path = "/upsert-dataset-events";
    const headers = { ...(await api.headers(path)), "content-type": "application/json" };
    const batches = Array.from({ length: 10 }, (_, batch) => {
      const events = Array.from({ length: 1000 }, (_, at) => ({
        ...{ event_id: `${batch}-${at}`, user_id: "u", item_id: "i", ts: 1, event_type: "view" },
        attributes: { text: "x".repeat(20_000) },
      }));
      return gzipSync(JSON.stringify({ event_dataset_id: eventDatasetId, events }), { level: 1 });
    });
    const answers = await Promise.all(
      batches.map((body) =>
        api.raw(path, { method: "POST", headers: { ...headers, "content-encoding": "gzip" }, body }),
      ),
    );
    expect(answers.map(({ body }) => body.succeed_ids.length)).toEqual(batches.map(() => 1000));
  });

  test("accepts the charset UTF-8", async () => {
    for (const charset of ["utf-8", '"UTF-8"', "utf8"])
      expect((await post(good, { "content-type": `application/json; charset=${charset}` })).status).toBe(200);
  });

  test("a body that is too large is rejected with the limit", async () => {
    const { body } = await post(Buffer.alloc(limits.requestBytes + 1, " "));
    expect(body.error).toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringContaining("1048576 bytes"),
    });
    const deep = await post(levels(limits.bodyDepth + 1));
    expect(deep.body.error.message).toContain(`${limits.bodyDepth} levels`);
  });

  test("errors name the path of a field in the request", async () => {
    const { body } = await post(
      JSON.stringify({ name: "", num_shards: "3", attribute_schema: { age: "ODD" }, color: 1 }),
    );
    expect(body.error.details.map((detail: { path: string }) => detail.path)).toEqual(
      expect.arrayContaining(["name", "num_shards", "attribute_schema.age"]),
    );
  });
});

describe("bodies that are far too large", () => {
  test("are rejected without using more memory", async () => {
    const main = join(__dirname, "..", "..", "..", "dist", "cli", "main.js");
    const child = spawn(process.execPath, [main, "serve", "--ephemeral", "--json"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const line = await new Promise<string>((resolve) =>
      child.stdout.once("data", (data) => resolve(String(data))),
    );
    const { url, keyFile } = JSON.parse(line);
    const api = new Caller({ url, key: readFileSync(keyFile, "utf8").trim() });
    try {
      const memory = async () =>
        (await api.raw("/status", { headers: { apikey: api.service.key } })).body.memory_bytes as number;
      const path = "/upsert-dataset-events";
      const headers = { ...(await api.headers(path)), "content-type": "application/json" };
      const refused = (status: number, code: string) => ({ status, body: { error: { code } } });
      const before = await memory();

      const unpackedBytes = 1024 ** 3 / 2;
      const bomb = gzipSync(Buffer.alloc(unpackedBytes, " "), { level: 1 });
      for (let at = 0; at < 5; at++) {
        const answer = await api.raw(path, {
          method: "POST",
          headers: { ...headers, "content-encoding": "gzip" },
          body: bomb,
        });
        expect(answer).toMatchObject(refused(413, "TOO_LARGE"));
      }
      const large = Buffer.alloc(100 * 1024 * 1024, " ");
      expect(await api.raw(path, { method: "POST", headers, body: large })).toMatchObject(
        refused(413, "TOO_LARGE"),
      );
      const piece = Buffer.alloc(1024 * 1024, " ");
      const pieces = (async function* () {
        for (let at = 0; at < 100; at++) yield piece;
      })();
      expect(await api.raw(path, { method: "POST", headers, body: pieces })).toMatchObject(
        refused(413, "TOO_LARGE"),
      );
      // The limit keeps memory use independent of the callers, who send 2.7 GB here, half a GB in one body.
      expect((await memory()) - before).toBeLessThan(unpackedBytes / 2);
    } finally {
      await api.close();
      child.kill();
    }
  });
});
