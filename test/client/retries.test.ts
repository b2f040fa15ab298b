import { ApiError, ConnectionError, OutcomeUnknownError } from "../../client/client";
import { routes } from "../../contract";
import { type Answer, clientOf, cutOff, drip, reply, reset, scriptedServer } from "./server";

const dataset = { event_dataset_id: "d1", name: "n", num_shards: 1, attribute_schema: null };
const honoured = { "accept-idempotency-key": "POST" };
const hang: Answer = () => undefined;

/** Sends a body that never ends, one byte at a time. */
let server: Awaited<ReturnType<typeof scriptedServer>>;
afterEach(() => server?.close());

const create = { name: "n", numShards: 1 };
const ref = { eventDatasetId: "d1" };

const repeatable = {
  "a GET": (call: Calls) => call(routes.getEventDataset, ref),
  "a PUT": (call: Calls) => call(routes.updateEventDataset, { ...ref, name: "n", attributeSchema: null }),
  "a DELETE": (call: Calls) => call(routes.deleteEventDataset, ref),
};
type Calls = ReturnType<typeof clientOf>["client"]["call"];

describe.each(Object.entries(repeatable))("%s is retried", (_, make) => {
  test.each<[string, Answer]>([
    ["a 429", reply(429)],
    ["a 500", reply(500, "<html>oops</html>")],
    ["a 502", reply(502)],
    ["a 503", reply(503)],
    ["a 504", reply(504)],
    ["a reset", reset],
    ["a truncated response", cutOff],
    ["a response with incomplete JSON", reply(200, '{"event_dataset_id":')],
    ["headers that never arrive", hang],
    ["a body that never ends", drip],
  ])("after %s", async (_name, fault) => {
    server = await scriptedServer(fault, reply(200, dataset));
    const { client } = clientOf(server, limitsFor(fault));
    await expect(make(client.call.bind(client))).resolves.toMatchObject({ eventDatasetId: "d1" });
    expect(server.arrived).toHaveLength(2);
  });
});

test("retries an upsert and a recommendation after a reset, with the same key", async () => {
  server = await scriptedServer(reset, reply(200, { succeed_ids: ["u"], failed_ids: [], results: [] }));
  const { client } = clientOf(server);
  await client.call(routes.upsertDatasetUsers, { userDatasetId: "d", users: [{ userId: "u" }] });
  expect(server.arrived).toHaveLength(2);
  expect(server.arrived[1].headers["idempotency-key"]).toBe(server.arrived[0].headers["idempotency-key"]);
  await client.call(routes.recommendItemsToUser, { userId: "u" });
});

/** Time limits for responses that never end. Others have none, because a busy machine may be slow. */
const limitsFor = (fault: Answer) =>
  fault === hang || fault === drip ? { timeouts: { headersMs: 1000, bodyMs: 1000 } } : {};

describe("a create", () => {
  test.each<[string, Answer]>([
    ["a 429", reply(429)],
    [
      "a 503 of the service with Retry-After",
      reply(503, { error: { code: "BUSY" } }, { "retry-after": "1" }),
    ],
  ])("is retried after %s, because it cannot have run", async (_, fault) => {
    server = await scriptedServer(fault, reply(200, dataset));
    const { client } = clientOf(server);
    await expect(client.call(routes.createEventDataset, create)).resolves.toMatchObject({
      eventDatasetId: "d1",
    });
    expect(server.arrived).toHaveLength(2);
    expect(server.arrived[1].headers["idempotency-key"]).toBe(server.arrived[0].headers["idempotency-key"]);
  });

  test.each<[string, Answer]>([
    ["a reset", reset],
    ["a truncated response", cutOff],
    ["a success with incomplete JSON", reply(200, '{"event_data')],
    ["a success without the id", reply(200, { name: "n" })],
    ["a 408", reply(408)],
    ["a 500", reply(500)],
    ["a 502", reply(502, "<html>Bad gateway</html>")],
    ["a 503 without Retry-After", reply(503)],
    ["a 503 of a gateway with Retry-After", reply(503, "<html>Maintenance</html>", { "retry-after": "1" })],
    ["headers that never arrive", hang],
  ])("is sent once and has an unknown outcome after %s", async (_, fault) => {
    server = await scriptedServer(fault, reply(200, { event_datasets: [] }));
    const { client } = clientOf(server, limitsFor(fault));
    const error = await client.call(routes.createEventDataset, create).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.message).toMatch(/outcome of POST \/create-event-dataset is unknown: it may have succeeded/);
    const creates = server.arrived.filter((request) => request.path === "/create-event-dataset");
    expect(creates).toHaveLength(1);
    expect(error.idempotencyKey).toBe(creates[0].headers["idempotency-key"]);
  });

  test.each<[string, Answer]>([
    ["a reset", reset],
    ["a truncated response", cutOff],
    ["a 500", reply(500)],
  ])("is repeated with its key after %s if the service honours keys", async (_, fault) => {
    const list = reply(200, { event_datasets: [] }, honoured);
    server = await scriptedServer(list, fault, reply(200, dataset, honoured));
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    await expect(client.call(routes.createEventDataset, create)).resolves.toMatchObject({
      eventDatasetId: "d1",
    });
    const keys = server.arrived.slice(1).map((request) => request.headers["idempotency-key"]);
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test("that is lost before the service has responded makes the client send a read to find out whether keys are honoured", async () => {
    const list = reply(200, { event_datasets: [] }, honoured);
    server = await scriptedServer(reset, list, reply(200, dataset, honoured));
    const { client } = clientOf(server);
    await expect(client.call(routes.createEventDataset, create)).resolves.toMatchObject({
      eventDatasetId: "d1",
    });
    expect(server.arrived.map((request) => request.path)).toEqual([
      "/create-event-dataset",
      "/list-event-datasets",
      "/create-event-dataset",
    ]);
  });

  test("fails within 5 s if the service has never responded and no connection can be opened, and the message starts with the address", async () => {
    server = await scriptedServer(reply(200, dataset));
    await server.close();
    for (const [url, reason] of [
      [server.url, "refuses connections (ECONNREFUSED)"],
      ["http://no-such-host.invalid", "cannot be reached (ENOTFOUND)"],
    ] as const) {
      const { client, clock } = clientOf({ url });
      const began = clock.now();
      const error = await client.call(routes.createEventDataset, create).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error.message).toMatch(
        /, tried for \d s\. Is the service running\? Check .* `recommender whoami`\.$/,
      );
      expect(error.message.startsWith(`${url} ${reason}`)).toBe(true);
      expect(clock.slept.length).toBeGreaterThan(1);
      expect(clock.now() - began).toBeLessThan(5000);
    }
  });

  const gateway = [
    ["a gateway's JSON 404", reply(404, { message: "no Route matched with those values" })],
    ["a default backend", reply(404, "default backend - 404")],
    ["an HTML page with 404", reply(404, "<html><title>Not Found</title>")],
    ["a redirect", reply(302, "", { location: "https://login.example.com" })],
    ["an empty 404", reply(404, "")],
    ["an empty 409", reply(409, "")],
    ["an HTML page with 400", reply(400, "<html>Bad Request</html>")],
    ["a 409 for a key in progress", reply(409, { message: "this key is still being processed" })],
  ] as const;

  const refusals = [
    ...gateway,
    ["a 404 of the service", reply(404, { error: { code: "NOT_FOUND", message: "There is no project p." } })],
    ["a 409 of the service", reply(409, { error: { code: "CONFLICT", message: "a dataset has this name" } })],
  ] as const;

  test.each(refusals)("that was lost has an unknown outcome even if %s follows", async (_, answer) => {
    server = await scriptedServer(reply(200, { event_datasets: [] }, honoured), reset, answer);
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    const error = await client.call(routes.createEventDataset, create).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
  });

  test.each(gateway)("is repeated with its key after %s", async (_, answer) => {
    server = await scriptedServer(
      reply(200, { event_datasets: [] }, honoured),
      answer,
      reply(200, dataset, honoured),
    );
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    await expect(client.call(routes.createEventDataset, create)).resolves.toMatchObject({
      eventDatasetId: "d1",
    });
  });

  test.each(gateway.slice(0, 5))(
    "fails if every call to its address gets %s, because the address is wrong",
    async (_, answer) => {
      server = await scriptedServer(answer);
      const { client, clock } = clientOf(server);
      const error = await client.call(routes.createEventDataset, create).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(ApiError);
      expect(error.message).toContain(server.url);
      expect(clock.slept).toEqual([]);
    },
  );

  test("that the service rejects is final, even after a lost attempt", async () => {
    const refused = reply(422, { error: { code: "BAD_REQUEST", message: "name is taken" } }, honoured);
    server = await scriptedServer(reply(200, { event_datasets: [] }, honoured), reset, refused);
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    await expect(client.call(routes.createEventDataset, create)).rejects.toThrow(ApiError);
  });

  test.each([400, 404, 405, 409, 410, 422])(
    "is repeated with its key after a %i that lacks the header of the service",
    async (status) => {
      const foreign = reply(status, { error: { code: "CONFLICT", message: "no dataset of this name" } });
      const created = reply(200, dataset, honoured);
      server = await scriptedServer(reply(200, { event_datasets: [] }, honoured), foreign, created);
      const { client } = clientOf(server);
      await client.call(routes.listEventDatasets, {});
      expect(await client.call(routes.createEventDataset, create)).toMatchObject({ name: "n" });
      const [, first, second] = server.arrived.map(({ headers }) => headers["idempotency-key"]);
      expect(second).toBe(first);
    },
  );

  test("uses the given key", async () => {
    server = await scriptedServer(reply(200, dataset));
    const { client } = clientOf(server);
    await client.call(routes.createEventDataset, create, { idempotencyKey: "mine" });
    expect(server.arrived[0].headers["idempotency-key"]).toBe("mine");
  });
});

describe("the delay between attempts", () => {
  test("has an upper bound that doubles up to the cap, and attempts end with the budget", async () => {
    server = await scriptedServer(reply(500, { error: { message: "down" } }));
    const { client, clock } = clientOf(server, { retry: { baseMs: 100, capMs: 400, budgetMs: 2000 } });
    const error = await client.call(routes.listEventDatasets, {}).catch((thrown) => thrown);
    expect(clock.slept).toEqual([100, 200, 400, 400, 400, 400]);
    expect(error).toBeInstanceOf(ApiError);
    expect(error.message).toMatch(/500: down.*gave up after 7 attempts in 2 s/);
  });

  test("is random between 0 and its upper bound", async () => {
    server = await scriptedServer(reply(500), reply(500), reply(200, { event_datasets: [] }));
    const { client, clock } = clientOf(server, { random: () => 0.25, retry: { baseMs: 100 } });
    await client.call(routes.listEventDatasets, {});
    expect(clock.slept).toEqual([25, 50]);
  });

  test.each([
    ["seconds", "7"],
    ["a date, by the clock of the service", "Thu, 01 Jan 2026 00:00:07 GMT"],
  ])("is at least what Retry-After says in %s", async (_, value) => {
    const date = "Thu, 01 Jan 2026 00:00:00 GMT";
    const limited = reply(429, {}, { "retry-after": value, date });
    server = await scriptedServer(limited, reply(200, { event_datasets: [] }));
    const { client, clock } = clientOf(server, { random: () => 0 });
    await client.call(routes.listEventDatasets, {});
    expect(clock.slept).toEqual([7000]);
  });

  test("is not waited for if Retry-After exceeds the budget", async () => {
    server = await scriptedServer(reply(429, {}, { "retry-after": "86400" }));
    const { client, clock } = clientOf(server);
    await expect(client.call(routes.listEventDatasets, {})).rejects.toThrow(ApiError);
    expect(clock.slept).toEqual([]);
  });
});

test.each([400, 403, 404, 409, 413, 422])("a %i from the service is final", async (status) => {
  server = await scriptedServer(reply(status, { error: { code: "X", message: "no such dataset" } }));
  const { client } = clientOf(server);
  await expect(client.call(routes.getEventDataset, ref)).rejects.toMatchObject({ status });
  expect(server.arrived).toHaveLength(1);
});

test("a read is retried for 20 s after a gateway's 404, and the error names the object that may exist", async () => {
  const missing = reply(404, { message: "no Route matched with those values" });
  server = await scriptedServer(reply(200, { event_datasets: [] }), missing);
  const { client, clock } = clientOf(server);
  await client.call(routes.listEventDatasets, {});
  const began = clock.now();
  await expect(client.call(routes.getEventDataset, ref)).rejects.toThrow(
    `404: no Route matched with those values; the response did not come from the service, so it is unknown whether ` +
      `event_dataset_id d1 exists. Check that ${server.url} is its address. (gave up after `,
  );
  expect(clock.now() - began).toBeLessThanOrEqual(20_000);
  expect(server.arrived.length).toBeGreaterThan(3);
});
