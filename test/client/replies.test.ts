import { inspect } from "node:util";
import { request } from "undici";
import { ApiError, type Client, fixedToken, ReplyError } from "../../client/client";
import { readBody } from "../../client/http/body";
import { routes } from "../../contract";
import { type Answer, clientOf, reply, scriptedServer } from "./server";

const ref = { eventDatasetId: "d1" };
let server: Awaited<ReturnType<typeof scriptedServer>>;
afterEach(() => server?.close());

async function errorOf(answer: Answer): Promise<ApiError> {
  server = await scriptedServer(answer);
  const { client } = clientOf(server);
  const error = await client.call(routes.getEventDataset, ref).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  return error;
}

describe("an error response becomes an ApiError with the readable parts of its body", () => {
  test.each<[string, unknown, { code?: string; message: RegExp }]>([
    [
      "the shape of the service in this package",
      {
        error: {
          code: "NOT_FOUND",
          message: "no such dataset",
          details: [{ path: "a.b", message: "wrong" }],
        },
      },
      { code: "NOT_FOUND", message: /404 NOT_FOUND: no such dataset; a\.b: wrong/ },
    ],
    [
      "an invalid request, whose details follow",
      {
        error: {
          code: "BAD_REQUEST",
          message: "The request is invalid. See `details`.",
          details: [{ path: "a", message: "wrong" }],
        },
      },
      { code: "BAD_REQUEST", message: /: The request is invalid; a: wrong/ },
    ],
    ["flat JSON", { code: 17, message: "gone" }, { code: "17", message: /404 17: gone/ }],
    [
      "OAuth's shape",
      { error: "invalid_scope", error_description: "no" },
      { code: "invalid_scope", message: /: no/ },
    ],
    ["problem details", { type: "about:blank", title: "Not found", detail: "d" }, { message: /: d/ }],
    ["a list of errors", { errors: [{ code: "X", message: "first" }] }, { code: "X", message: /first/ }],
    ["JSON of no known shape", { nope: [1, 2] }, { message: /\{"nope":\[1,2\]\}/ }],
    ["a JSON string", '"just text"', { message: /just text/ }],
    ["null", "null", { message: /null/ }],
    ["HTML", "<html><title>Bad Gateway</title><body>…", { message: /HTML page titled "Bad Gateway"/ }],
    ["nothing", "", { message: /the response has no body/ }],
    ["incomplete JSON", '{"error":{"code":"NOT', { message: /\{"error":\{"code":"NOT/ }],
    ["plain text", "nope", { message: /404: nope/ }],
  ])("%s", async (_, body, expected) => {
    const error = await errorOf(reply(404, body, { "x-request-id": "r-1" }));
    expect(error).toMatchObject({ status: 404, method: "GET", path: "/get-event-dataset", requestId: "r-1" });
    expect(error.code).toBe("code" in expected ? expected.code : error.code);
    expect(error.message).toMatch(expected.message);
    expect(error.message).toMatch(/^GET \/get-event-dataset: 404/);
    expect(error.message).toMatch(/\(request r-1\)/);
  });

  test("a megabyte of text is truncated", async () => {
    expect((await errorOf(reply(400, "x".repeat(1_000_000)))).message.length).toBeLessThan(700);
  });
});

describe("a success that does not match the contract becomes a ReplyError", () => {
  test.each<[string, Answer, RegExp]>([
    [
      "HTML",
      reply(200, "<html><h1>Log in</h1>", { "content-type": "text/html" }),
      /HTML page titled "Log in"/,
    ],
    ["plain text", reply(200, "OK", { "content-type": "text/plain" }), /returned 200, but OK/],
    ["no id", reply(200, { name: "n" }), /eventDatasetId/],
    [
      "an error",
      reply(200, { error: { code: "QUOTA", message: "The quota is used up." } }),
      /eventDatasetId: missing; expected text; it says "QUOTA: The quota is used up\."$/,
    ],
    ["a list instead of an object", reply(200, []), /expected an object/],
    ["null", reply(200, "null"), /expected an object/],
    ["nothing", reply(200, ""), /returned 200, but the response has no body$/],
    [
      "no content",
      (_, response) => response.writeHead(204).end(),
      /returned 204, but the response has no body$/,
    ],
    [
      "another object",
      reply(200, { event_dataset_id: "d2", name: "n" }),
      /returned 200, but the response is about event_dataset_id d2, not d1$/,
    ],
    ["wrong types", reply(200, { event_dataset_id: 5 }), /eventDatasetId: expected text, received 5$/],
    [
      "a number that JSON rounds",
      reply(200, '{"event_dataset_id":12345678901234567890}'),
      /eventDatasetId: expected text$/,
    ],
  ])("%s", async (_, answer, message) => {
    server = await scriptedServer(answer);
    const { client } = clientOf(server);
    const error = await client.call(routes.getEventDataset, ref).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ReplyError);
    expect(error).not.toBeInstanceOf(ApiError);
    expect(error.message).toMatch(message);
    // A second read shows that the address is wrong.
    expect(server.arrived.map(({ path }) => path)).toEqual(["/get-event-dataset", "/list-event-datasets"]);
  });

  test("but valid JSON with a wrong content type is accepted", async () => {
    server = await scriptedServer(reply(200, '{"event_dataset_id":"d1"}', { "content-type": "text/plain" }));
    const { client } = clientOf(server);
    await expect(client.call(routes.getEventDataset, ref)).resolves.toEqual({ eventDatasetId: "d1" });
  });
});

describe("a reply that is not the reply to the call", () => {
  const list = reply(200, { event_datasets: [] });
  const dataset = { event_dataset_id: "d1", name: "n", num_shards: 1 };
  const bad: [string, Answer][] = [
    ["an empty 200", reply(200, "")],
    ["a 204", (_, response) => response.writeHead(204).end()],
    ["{}", reply(200, {})],
    ["null", reply(200, "null")],
    ["another object", reply(200, { ...dataset, event_dataset_id: "d2", project_id: "p2", job_id: "j2" })],
  ];
  const calls: [string, (client: Client) => Promise<unknown>, object][] = [
    ["a read", (client) => client.call(routes.getEventDataset, ref), dataset],
    [
      "a change",
      (client) => client.call(routes.updateEventDataset, { ...ref, name: "n", attributeSchema: null }),
      dataset,
    ],
    ["a deletion", (client) => client.call(routes.deleteEventDataset, ref), dataset],
    [
      "the deletion of a user's events",
      (client) => client.call(routes.deleteDatasetUserEvents, { ...ref, userId: "u" }),
      { event_dataset_id: "d1", user_id: "u" },
    ],
    [
      "a shutdown",
      (client) => client.call(routes.shutdownDeployment, { projectId: "p1" }),
      { project_id: "p1" },
    ],
    [
      "the read of a job",
      (client) => client.call(routes.getJob, { projectId: "p1", jobId: "j1" }),
      { job_id: "j1", job_status: "SUCCEED" },
    ],
    [
      "an upsert",
      (client) =>
        client.send(routes.upsertDatasetEvents, Buffer.from("{}"), { ids: { event_dataset_id: "d1" } }),
      { event_dataset_id: "d1", succeed_ids: ["e"], failed_ids: [] },
    ],
  ];

  test.each(calls)("is retried if the service has responded before: %s", async (_, call, good) => {
    for (const [what, answer] of bad) {
      server = await scriptedServer(list, answer, answer, reply(200, good));
      const { client } = clientOf(server);
      await client.call(routes.listEventDatasets, {});
      const shown = await call(client).then(
        () => "it succeeded",
        (error: Error) => error.message,
      );
      expect({ what, shown, calls: server.arrived.length }).toEqual({
        ...{ what, shown: "it succeeded", calls: 4 },
      });
      await server.close();
    }
  });

  test.each(calls)(
    "is retried if another read shows that the address is right: %s",
    async (_, call, good) => {
      for (const [what, answer] of bad) {
        server = await scriptedServer(answer, list, reply(200, good));
        const { client } = clientOf(server);
        await call(client);
        expect({ what, calls: server.arrived.length }).toEqual({ what, calls: 3 });
        await server.close();
      }
    },
  );

  test("fails the call after 20 seconds if it stays", async () => {
    server = await scriptedServer(list, reply(200, ""));
    const { client, clock } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    const began = clock.now();
    await expect(client.call(routes.getEventDataset, ref)).rejects.toThrow(
      /GET \/get-event-dataset: returned 200, but the response has no body \(gave up after \d+ attempts/,
    );
    expect(clock.now() - began).toBeLessThanOrEqual(20_000);
  });

  test("leaves the outcome of a create unknown, if the service honours no keys", async () => {
    const project = { name: "n", userDatasetId: "u", itemDatasetId: "i", eventDatasetId: "e" };
    const other = { project_id: "p", user_dataset_id: "u", item_dataset_id: "i", event_dataset_id: "e2" };
    server = await scriptedServer(list, reply(200, other));
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    await expect(client.call(routes.createProject, { ...project, targetEventType: "buy" })).rejects.toThrow(
      /outcome .* is unknown.*the response is about event_dataset_id e2, not e/,
    );
    expect(server.arrived).toHaveLength(2);
  });
});

test.each([301, 302, 303, 307, 308])(
  "a redirect with %i is not followed, and retried if the service has responded before",
  async (status) => {
    const away = reply(status, "", { location: "https://login.example.com/" });
    server = await scriptedServer(
      reply(200, { event_datasets: [] }),
      away,
      reply(200, { event_dataset_id: "d1" }),
    );
    const { client } = clientOf(server);
    await client.call(routes.listEventDatasets, {});
    expect(await client.call(routes.deleteEventDataset, ref)).toEqual({ eventDatasetId: "d1" });
    expect(server.arrived.map(({ method }) => method)).toEqual(["GET", "DELETE", "DELETE"]);
  },
);

test("a redirect is an error that names its target", async () => {
  server = await scriptedServer(reply(302, "", { location: "https://login.example.com/start" }));
  await expect(clientOf(server).client.call(routes.listEventDatasets, {})).rejects.toThrow(
    `302: the response has no body; it redirects to https://login.example.com/start. Check that ${server.url} is the address`,
  );
});

test("a short secret is masked only as a whole word", async () => {
  server = await scriptedServer(reply(400, { message: "that t is no token" }));
  const { client } = clientOf(server, { token: fixedToken("t") });
  await expect(client.call(routes.listEventDatasets, {})).rejects.toThrow("400: that [secret] is no token");
});

test("an error, its stack, its cause and a printed client contain neither key nor token", async () => {
  const echo: Answer = (request, response) => {
    const { authorization, apikey } = request.headers;
    const base64 = Buffer.from(`u:${apikey}`).toString("base64");
    const html = `&#x${apikey?.toString().charCodeAt(0).toString(16)};${apikey?.slice(1)}`;
    const quoted = `bad headers ${authorization} ${apikey} ${base64} ${html}`;
    reply(400, { error: quoted, code: quoted })(request, response);
  };
  server = await scriptedServer(echo);
  const { client } = clientOf(server, { token: fixedToken("token-abcdef") });
  const error = await client.call(routes.listEventDatasets, {}).catch((thrown) => thrown);
  const shown = inspect([error, error.stack, client], { depth: 10, showHidden: true });
  expect(error.message).toContain("bad headers Bearer [secret] [secret] [secret] [secret]");
  expect(shown).not.toContain("token-abcdef");
  expect(shown).not.toContain("key-0123456789");
});

test("a response body without an end is read up to a limit", async () => {
  server = await scriptedServer((_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(65_536, " ")));
    };
    response.on("drain", more);
    more();
  });
  const response = await request(server.url);
  await expect(readBody(response, 600_000, 1_000_000)).rejects.toThrow(
    "the response body has more than 1000000 bytes",
  );
  expect(response.body.destroyed).toBe(true);
});
