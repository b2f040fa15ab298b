import { InputError } from "../../client/client";
import { systemClock } from "../../client/clock";
import { routes } from "../../contract";
import { clientOf, reply, scriptedServer } from "./server";

const ref = { eventDatasetId: "d1" };
let server: Awaited<ReturnType<typeof scriptedServer>>;
afterEach(() => server?.close());

describe("a request", () => {
  test("contains the key, the token and JSON with wire names", async () => {
    server = await scriptedServer(reply(200, { event_dataset_id: "d1" }));
    const { client } = clientOf(server);
    await client.call(routes.updateEventDataset, {
      ...ref,
      name: "n",
      attributeSchema: { fooBar: "NUMERICAL" },
    });
    expect(server.arrived[0]).toMatchObject({
      method: "PUT",
      path: "/update-event-dataset",
      headers: {
        authorization: "Bearer token-abcdef",
        apikey: "key-0123456789",
        "content-type": "application/json",
      },
      body: { event_dataset_id: "d1", name: "n", attribute_schema: { fooBar: "NUMERICAL" } },
    });
  });

  test("puts the parameters of a GET into the query and those of a DELETE into a JSON body", async () => {
    server = await scriptedServer(reply(200, { event_dataset_id: "ä &=?" }));
    const { client } = clientOf(server);
    await client.call(routes.getEventDataset, { eventDatasetId: "ä &=?" });
    await client.call(routes.deleteEventDataset, { eventDatasetId: "ä &=?" });
    expect(server.arrived[0]).toMatchObject({ query: { event_dataset_id: "ä &=?" }, body: "" });
    expect(server.arrived[1]).toMatchObject({ query: {}, body: { event_dataset_id: "ä &=?" } });
  });

  test("keeps a path in the base address, and calls another address if one is given", async () => {
    server = await scriptedServer(reply(200, { results: [], event_datasets: [] }));
    const { client } = clientOf({ url: `${server.url}/api/v2/` });
    await client.call(routes.listEventDatasets, {});
    await client.call(routes.recommendItemsToUser, { userId: "u" }, { baseUrl: `${server.url}/serving/p1` });
    expect(server.arrived.map((request) => request.path)).toEqual([
      "/api/v2/list-event-datasets",
      "/serving/p1/recommend-items-to-user",
    ]);
  });

  const users = Array.from({ length: 200 }, (_, index) => ({ userId: `u${index}`, attributes: {} }));
  test.each([
    ["over 1 kB is compressed", {}, users, "gzip"],
    ["under 1 kB is not compressed", {}, users.slice(0, 3), undefined],
    ["over 1 kB is not compressed if compression is turned off", { gzip: false }, users, undefined],
  ])("%s", async (_, options, batch, encoding) => {
    server = await scriptedServer(reply(200, { succeed_ids: [], failed_ids: [] }));
    const { client } = clientOf(server, options);
    await client.call(routes.upsertDatasetUsers, { userDatasetId: "d", users: batch });
    const [request] = server.arrived;
    expect(request.headers["content-encoding"]).toBe(encoding);
    expect(request.raw.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))).toBe(encoding === "gzip");
    expect(request.body).toEqual({
      user_dataset_id: "d",
      users: batch.map(({ userId, attributes }) => ({ user_id: userId, attributes })),
    });
  });

  test("that does not match the contract is rejected before anything is sent", async () => {
    server = await scriptedServer(reply(200));
    const { client } = clientOf(server);
    const error = await client
      .call(routes.createEventDataset, { name: "", numShards: 0 })
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toMatch(/^POST \/create-event-dataset: name: .*; numShards: /);
    expect(server.arrived).toHaveLength(0);
  });

  test("can contain algorithm parameters that only other services know", async () => {
    server = await scriptedServer(reply(200, { algorithm_id: "a" }));
    const { client } = clientOf(server);
    const algorithmParameters = { learningRate: 0.1, layers: [64, 32] };
    await client.call(routes.createAlgorithm, { projectId: "p", name: "n", algorithmParameters });
    expect(server.arrived[0].body).toMatchObject({ algorithm_parameters: algorithmParameters });
  });

  test("many concurrent requests share a limited number of connections", async () => {
    const ports = new Set<number | undefined>();
    server = await scriptedServer((request, response) => {
      ports.add(response.socket?.remotePort);
      reply(200, { event_datasets: [] })(request, response);
    });
    const { client } = clientOf(server, { connections: 5 });
    await Promise.all(Array.from({ length: 200 }, () => client.call(routes.listEventDatasets, {})));
    expect(server.arrived).toHaveLength(200);
    expect(ports.size).toBeLessThanOrEqual(5);
    await client.close();
  });
});

describe("an abort", () => {
  test("before the call and during the wait for a response ends the call with its reason", async () => {
    const reason = new Error("enough");
    const before = AbortSignal.abort(reason);
    server = await scriptedServer(() => undefined);
    const { client } = clientOf(server);
    await expect(client.call(routes.listEventDatasets, {}, { signal: before })).rejects.toBe(reason);
    expect(server.arrived).toHaveLength(0);
    const during = new AbortController();
    const call = client.call(routes.listEventDatasets, {}, { signal: during.signal });
    const check = expect(call).rejects.toBe(reason);
    while (server.arrived.length === 0) await new Promise(setImmediate);
    during.abort(reason);
    await check;
  });

  test("during a create leaves its outcome unknown", async () => {
    server = await scriptedServer(() => undefined);
    const { client } = clientOf(server);
    const abort = new AbortController();
    const call = client.call(
      routes.createEventDataset,
      { name: "n", numShards: 1 },
      { signal: abort.signal },
    );
    const check = expect(call).rejects.toThrow(/outcome .* is unknown.*enough/);
    while (server.arrived.length === 0) await new Promise(setImmediate);
    abort.abort(new Error("enough"));
    await check;
  });
});

describe("a client that is stopped", () => {
  test("ends reads and retries nothing, but finishes a call that may change something", async () => {
    let release = () => {};
    server = await scriptedServer((request, response) => {
      if (request.method === "POST")
        release = () => reply(201, { event_dataset_id: "d", name: "n", num_shards: 1 })(request, response);
    });
    const stop = new AbortController();
    const { client } = clientOf(server, { stop: stop.signal });
    const reads = expect(client.call(routes.listEventDatasets, {})).rejects.toThrow("enough");
    const creates = client.call(routes.createEventDataset, { name: "n", numShards: 1 });
    while (server.arrived.length < 2) await new Promise(setImmediate);
    stop.abort(new Error("enough"));
    await reads;
    release();
    expect(await creates).toMatchObject({ eventDatasetId: "d" });
  });

  test("reports the error of a call that it would have retried", async () => {
    const stop = new AbortController();
    server = await scriptedServer(reply(429));
    const retry = { baseMs: 60_000, capMs: 60_000 };
    const { client } = clientOf(server, { stop: stop.signal, clock: systemClock, retry });
    const call = client.call(routes.createEventDataset, { name: "n", numShards: 1 });
    const check = expect(call).rejects.toThrow(/429.*not retried, because enough/);
    while (server.arrived.length === 0) await new Promise(setImmediate);
    setTimeout(() => stop.abort(new Error("enough")), 50);
    await check;
  });
});
