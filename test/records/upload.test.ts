import { existsSync, readFileSync } from "node:fs";
import { type CallOptions, Client, endpointToken } from "../../client/client";
import { ApiError } from "../../client/errors";
import type { Route } from "../../contract";
import { ConcurrencyLimit } from "../../records/concurrency-limit";
import { Loading, userLines } from "./loading";

let loading: Loading;
beforeAll(async () => {
  loading = await Loading.start();
});
afterAll(() => loading.end());
beforeEach(() => loading.observed.faults({}));

/** Returns a client that intercepts each upsert, in order. */
function tampered(
  around: (
    call: number,
    send: () => Promise<unknown>,
    options: CallOptions,
    body: Buffer,
  ) => Promise<unknown>,
): Client {
  const { client } = loading.observed;
  let calls = 0;
  const send = (route: Route, body: Buffer, options: CallOptions) =>
    around(calls++, () => client.send(route, body, options), options, body);
  return { service: client.service, send } as unknown as Client;
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("records are sent in batches of a thousand and counted", async () => {
  const id = await loading.dataset("users");
  const file = loading.directory.write("all.ndjson", userLines(0, 2500));
  expect(await loading.upload("users", id, file)).toMatchObject({
    recordCount: 2500,
    failedCount: 0,
    calls: 3,
  });
  expect(await loading.recordCount(id)).toBe(2500);
  expect(existsSync(loading.rejectsFile)).toBe(false);
});

test("batches are limited by bytes too", async () => {
  const id = await loading.dataset("users");
  const file = loading.directory.write("wide.ndjson", userLines(0, 180, { note: "n".repeat(50_000) }));
  const sizes: number[] = [];
  const client = tampered((_, send, __, body) => {
    sizes.push(body.length);
    return send();
  });
  await loading.upload("users", id, file, { client });
  expect(sizes).toHaveLength(3);
  expect(Math.max(...sizes)).toBeLessThan(4.2 * 1024 * 1024);
});

describe("rejected records", () => {
  const bad = `{"user_id":"a"}\n{"user_id":"nul\\u0000"}\n{"name":"b"}\n`;

  test("fail the upload and are written to a file, with line and reason", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("bad.ndjson", bad);
    await expect(loading.upload("users", id, file)).rejects.toThrow(
      /^2 records were rejected, but maxFailures is 0\. The first: .*bad\.ndjson:\d: .* See .*rejects\.ndjson/,
    );
    expect(await loading.recordCount(id)).toBe(1);
    const rejects = readFileSync(loading.rejectsFile, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rejects.sort((a, b) => a.line - b.line)).toMatchObject([
      { line: 2, reason: expect.stringMatching(/without NUL/), record: { user_id: "nul\0" } },
      { line: 3, reason: expect.stringMatching(/^user_id: /), record: { name: "b" } },
    ]);
  });

  test("do not fail the upload up to maxFailures", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("bad.ndjson", bad);
    const totals = await loading.upload("users", id, file, { maxFailures: 2 });
    expect(totals).toMatchObject({ recordCount: 1, failedCount: 2 });
  });

  test("stop an upload early if there are too many", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write(
      "hopeless.ndjson",
      '{"name":"b"}\n'.repeat(3000) + userLines(0, 5000),
    );
    await expect(loading.upload("users", id, file)).rejects.toThrow(/or more records were rejected/);
    expect(await loading.recordCount(id)).toBeLessThan(5000);
  });

  test("include those without a reason or a result from the service", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("three.ndjson", userLines(0, 3));
    const client = tampered(async () => ({ succeedIds: ["u0"], failedIds: ["u1"] }));
    await expect(loading.upload("users", id, file, { client })).rejects.toThrow(/2 records were rejected/);
    expect(readFileSync(loading.rejectsFile, "utf8")).toMatch(/gave no reason.*\n.*did not report a result/);
  });

  test("have the reason that the service gave", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("three.ndjson", userLines(0, 3));
    const failures = [{ id: "u2", index: 2, reason: "too tall" }];
    const client = tampered(async () => ({ succeedIds: ["u0", "u1"], failedIds: ["u2"], failures }));
    const totals = await loading.upload("users", id, file, { client, maxFailures: 1 });
    expect(totals).toMatchObject({ recordCount: 2, failedCount: 1 });
    expect(JSON.parse(readFileSync(loading.rejectsFile, "utf8"))).toEqual({
      source: file,
      line: 3,
      id: "u2",
      reason: "too tall",
      record: { user_id: "u2", attributes: {} },
      digest: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });
});

describe("an upload that was interrupted", () => {
  test("resumes with the batches that were not acknowledged, in any order", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("long.ndjson", userLines(0, 12_000));
    let breakOff: () => void = () => undefined;
    const brokenOff = new Promise<void>((resolve) => {
      breakOff = resolve;
    });
    const client = tampered(async (call, send) => {
      if (call === 5) breakOff();
      if (call === 0) await brokenOff;
      if (call === 0 || call === 5) throw new Error("the line is dead");
      return send();
    });
    await expect(loading.upload("users", id, file, { client, parallel: 4 })).rejects.toThrow(
      "the line is dead",
    );
    const acknowledged = (await loading.recordCount(id)) / 1000;
    expect(acknowledged).toBeGreaterThanOrEqual(4);
    const { calls, recordCount, sentCount } = await loading.upload("users", id, file);
    expect(calls).toBe(12 - acknowledged);
    expect({ recordCount, sentCount }).toEqual({ recordCount: 12_000, sentCount: calls * 1000 });
    expect(await loading.recordCount(id)).toBe(12_000);
  });

  test("sends batches again if their content has changed since", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("flip.ndjson", userLines(0, 5000));
    const before = await loading.upload("users", id, file);
    expect(before.calls).toBe(5);
    loading.directory.write("flip.ndjson", userLines(0, 5000, { changed: true }));
    const client = tampered((call, send) => (call < 2 ? send() : Promise.reject(new Error("dead"))));
    await expect(loading.upload("users", id, file, { client, parallel: 1 })).rejects.toThrow("dead");
    loading.directory.write("flip.ndjson", userLines(0, 5000));
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 5, sentCount: 5000 });
  });

  test("no longer relies on a complete upload before it", async () => {
    const id = await loading.dataset("users");
    const first = userLines(0, 5000);
    const file = loading.directory.write("three.ndjson", first);
    await loading.upload("users", id, file);
    const dead = () => tampered((call, send) => (call < 1 ? send() : Promise.reject(new Error("dead"))));
    for (const content of [userLines(4000, 9000), first, first]) {
      loading.directory.write("three.ndjson", content);
      const broken = loading.upload("users", id, file, { client: dead(), parallel: 1 });
      await expect(broken).rejects.toThrow("dead");
    }
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 3, sentCount: 3000 });
  });
});

test("the journal identifies an embedded service by its data, not by its address", async () => {
  const id = await loading.dataset("users");
  const file = loading.directory.write("moved.ndjson", userLines(0, 2000));
  const { url, key: apiKey } = loading.observed.service;
  const token = endpointToken({ url: `${url}/oauth/token`, clientId: "test", clientSecret: apiKey });
  const uploadAt = async (baseUrl: string, instanceId: string) => {
    const client = new Client({ baseUrl, apiKey, token, instanceId });
    return loading.upload("users", id, file, { client }).finally(() => client.close());
  };
  expect(await uploadAt(url, "data")).toMatchObject({ calls: 2 });
  expect(await uploadAt(url.replace("127.0.0.1", "localhost"), "data")).toMatchObject({ calls: 0 });
  expect(await uploadAt(url, "other data")).toMatchObject({ calls: 2 });
});

describe("a changed source", () => {
  test("sends only the batches that differ from the last complete upload", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("grow.ndjson", userLines(0, 4500));
    await loading.upload("users", id, file);

    const appended = loading.directory.write("grow.ndjson", userLines(0, 6000));
    expect(await loading.upload("users", id, appended)).toMatchObject({ calls: 2, recordCount: 6000 });

    loading.directory.write("grow.ndjson", userLines(0, 6000).replace('"u1500"', '"u1500b"'));
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 1, sentCount: 1000 });
    expect(await loading.recordCount(id)).toBe(6001);
  });

  test("sends everything if the earlier upload is unknown, or with force", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("again.ndjson", userLines(0, 3000));
    await loading.upload("users", id, file);
    expect(await loading.upload("users", id, file, { history: {} })).toMatchObject({ calls: 3 });
    expect(await loading.upload("users", id, file, { force: true })).toMatchObject({ calls: 3 });
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 0, recordCount: 3000 });
  });
});

describe("a service that is slow or busy", () => {
  test("retries after 429 and lost responses", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("busy.ndjson", userLines(0, 6000));
    const path = "/upsert-dataset-users";
    await loading.observed.faults({
      calls: [
        { path, status: 429, times: 3 },
        { path, reset: true, after: true, times: 2 },
      ],
    });
    expect(await loading.upload("users", id, file)).toMatchObject({ recordCount: 6000, failedCount: 0 });
    expect(await loading.recordCount(id)).toBe(6000);
  });

  test("sends fewer batches concurrently after 429", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("patience.ndjson", userLines(0, 12_000));
    let underWay = 0;
    const seen: number[] = [];
    const client = tampered(async (call, send, { onRetry }) => {
      seen.push(++underWay);
      if (call === 0)
        onRetry?.(new ApiError({ method: "POST", path: "/x" }, { status: 429, message: "busy" }));
      await later(20);
      const reply = await send();
      underWay--;
      return reply;
    });
    await loading.upload("users", id, file, { client, parallel: 8 });
    expect(Math.max(...seen)).toBeLessThanOrEqual(5);
  });

  test("increases concurrency slowly again", () => {
    const gate = new ConcurrencyLimit(8);
    const none = new Set<string>();
    gate.slowDown();
    gate.slowDown();
    expect(gate.limit).toBe(4);
    for (let at = 0; at < 16 * 4; at++) {
      void gate.acquire(none);
      gate.release(none);
    }
    expect(gate.limit).toBe(8);
  });
});

test("batches that share an id are sent in order, so the later record wins", async () => {
  const id = await loading.dataset("users");
  const file = loading.directory.write(
    "twice.ndjson",
    userLines(0, 1000) + userLines(500, 1500, { later: true }),
  );
  const log: string[] = [];
  const client = tampered(async (call, send) => {
    log.push(`begin ${call}`);
    await later(50);
    const reply = await send();
    log.push(`end ${call}`);
    return reply;
  });
  await loading.upload("users", id, file, { client });
  expect(log).toEqual(["begin 0", "end 0", "begin 1", "end 1"]);
  expect(await loading.recordCount(id)).toBe(1500);
});
