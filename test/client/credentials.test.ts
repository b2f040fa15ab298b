import { inspect } from "node:util";
import { commandToken, endpointToken, TokenError } from "../../client/client";
import { routes } from "../../contract";
import { type Answer, clientOf, drip, reply, scriptedServer } from "./server";

type Server = Awaited<ReturnType<typeof scriptedServer>>;
const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function start(...answers: Answer[]): Promise<Server> {
  const server = await scriptedServer(...answers);
  servers.push(server);
  return server;
}

const ok = reply(200, { event_datasets: [], event_dataset_id: "d" });
const list = routes.listEventDatasets;

/** A service that accepts only the current token. */
function guarded(valid: () => string): Answer {
  return (request, response) =>
    (request.headers.authorization === `Bearer ${valid()}` ? ok : reply(401))(request, response);
}

function endpointOf(server: Server) {
  return endpointToken({ url: `${server.url}/oauth/token`, clientId: "me", clientSecret: "s3cret-s3cret" });
}

describe("a token endpoint", () => {
  test("gets client credentials and the path as the scope, once per scope", async () => {
    const service = await start(ok);
    const endpoint = await start(reply(200, { access_token: "t", expires_in: 3600 }));
    const { client } = clientOf(service, { token: endpointOf(endpoint) });
    await client.call(list, {});
    await client.call(list, {});
    await client.call(routes.getEventDataset, { eventDatasetId: "d" });
    expect(
      endpoint.arrived.map((request) => Object.fromEntries(new URLSearchParams(request.body as string))),
    ).toEqual(
      ["/list-event-datasets", "/get-event-dataset"].map((scope) => ({
        grant_type: "client_credentials",
        client_id: "me",
        client_secret: "s3cret-s3cret",
        scope,
      })),
    );
    expect(service.arrived[0].headers.authorization).toBe("Bearer t");
  });

  test("gets one request for 1,000 concurrent calls", async () => {
    const service = await start(ok);
    const endpoint = await start(reply(200, { access_token: "t", expires_in: 3600 }));
    const { client } = clientOf(service, { token: endpointOf(endpoint) });
    await Promise.all(Array.from({ length: 1000 }, () => client.call(list, {})));
    expect(service.arrived).toHaveLength(1000);
    expect(endpoint.arrived).toHaveLength(1);
    await client.close();
  });

  test("gets another request shortly before the token expires", async () => {
    const service = await start(ok);
    const endpoint = await start(reply(200, { access_token: "t", expires_in: 600 }));
    const { client, clock } = clientOf(service, { token: endpointOf(endpoint) });
    await client.call(list, {});
    clock.time += 569_000;
    await client.call(list, {});
    expect(endpoint.arrived).toHaveLength(1);
    clock.time += 2_000;
    await client.call(list, {});
    expect(endpoint.arrived).toHaveLength(2);
  });

  test("gets one more request if a token is rejected, even for many concurrent calls", async () => {
    let issued = 0;
    const service = await start(guarded(() => "t2"));
    const endpoint = await start((request, response) => {
      issued++;
      reply(200, { access_token: `t${issued}`, expires_in: 3600 })(request, response);
    });
    const { client } = clientOf(service, { token: endpointOf(endpoint) });
    await Promise.all(Array.from({ length: 50 }, () => client.call(list, {})));
    expect(issued).toBe(2);
    await client.close();
  });

  test("whose new token is also rejected ends the call, and the error names the source", async () => {
    let issued = 0;
    const service = await start(guarded(() => "never"));
    const endpoint = await start((request, response) => {
      issued++;
      reply(200, { access_token: `t${issued}`, expires_in: 3600 })(request, response);
    });
    const { client } = clientOf(service, { token: endpointOf(endpoint) });
    await expect(client.call(list, {})).rejects.toThrow(/401.*the token came from tokenUrl/);
    expect(issued).toBe(2);
    expect(service.arrived).toHaveLength(2);
  });

  test("that is down for a moment is retried, and a create waits for it", async () => {
    const service = await start(reply(200, { event_dataset_id: "d" }));
    const endpoint = await start(reply(503), reply(200, { access_token: "t" }));
    const { client } = clientOf(service, { token: endpointOf(endpoint) });
    await client.call(routes.createEventDataset, { name: "n", numShards: 1 });
    expect(service.arrived).toHaveLength(1);
  });

  test.each<[string, Answer, RegExp]>([
    [
      "rejects the client",
      reply(401, { error: "invalid_client" }),
      /rejects clientId and clientSecret \(401 invalid_client\)\. Check with `recommender whoami`\.$/,
    ],
    ["returns no token", reply(200, { token: "t" }), /returned 200 without an access_token/],
    [
      "returns HTML",
      reply(200, "<title>Log in</title>"),
      /returned 200 without an access_token: an HTML page titled "Log in" came instead of JSON\. Check with `recommender whoami`\.$/,
    ],
  ])("that %s ends the call before anything is sent to the service", async (_, answer, message) => {
    const service = await start(ok);
    const endpoint = await start(answer);
    const { client } = clientOf(service, { token: endpointOf(endpoint) });
    const error = await client.call(list, {}).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TokenError);
    expect(error.message).toMatch(message);
    expect(service.arrived).toHaveLength(0);
  });

  test("whose response never ends fails like a lost response", async () => {
    const service = await start(ok);
    const endpoint = await start(drip, drip);
    const given = { token: endpointOf(endpoint), timeouts: { bodyMs: 300 }, retry: { budgetMs: 0 } };
    await expect(clientOf(service, given).client.call(list, {})).rejects.toThrow(
      "sent an incomplete response: the response body took longer than 300 ms",
    );
  });

  test("that quotes the secret in an error does not expose it", async () => {
    const service = await start(ok);
    const endpoint = await start((request, response) =>
      reply(400, `what is ${request.body}?`)(request, response),
    );
    const { client } = clientOf(service, { token: endpointOf(endpoint) });
    const error = await client.call(list, {}).catch((thrown) => thrown);
    expect(inspect([error, error.stack], { depth: 10 })).not.toContain("s3cret-s3cret");
  });
});

describe("a token command", () => {
  test("gets the scope in its environment, and its output is the token", async () => {
    const service = await start(ok);
    const { client } = clientOf(service, { token: commandToken('echo "token-for$RECOMMENDER_SCOPE"') });
    await client.call(list, {});
    expect(service.arrived[0].headers.authorization).toBe("Bearer token-for/list-event-datasets");
  });

  test("that prints a JWT is run again shortly before the JWT expires", async () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = Buffer.from(JSON.stringify({ iat: now, exp: now + 600 })).toString("base64url");
    const service = await start(ok);
    const { client, clock } = clientOf(service, { token: commandToken(`echo head.${claims}.$$`) });
    await client.call(list, {});
    await client.call(list, {});
    clock.time += 580_000;
    await client.call(list, {});
    const [first, second, third] = service.arrived.map((request) => request.headers.authorization);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test.each([
    [
      "fails",
      "echo 'log in again, please' >&2; exit 3",
      /tokenCommand exited with code 3 .*log in again, please/,
    ],
    ["prints nothing", "true", /tokenCommand printed nothing .*it must print only the token/],
    ["prints more than the token", "echo your token is x", /tokenCommand printed more than one word/],
  ])("that %s ends the call with a clear error", async (_, command, message) => {
    const service = await start(ok);
    const { client } = clientOf(service, { token: commandToken(command) });
    await expect(client.call(list, {})).rejects.toThrow(message);
    expect(service.arrived).toHaveLength(0);
  });

  test("that hangs is killed", async () => {
    const service = await start(ok);
    const { client } = clientOf(service, { token: commandToken("sleep 60", { timeoutMs: 200 }) });
    await expect(client.call(list, {})).rejects.toThrow(/printed no token within 200 ms/);
  });

  test("that fails exposes neither its command line nor a token in its output", async () => {
    const service = await start(ok);
    const secret = "abcdefghijklmnopqrstuvwxyz123456";
    const { client } = clientOf(service, { token: commandToken(`echo bad ${secret} >&2; exit 1`) });
    const error = await client.call(list, {}).catch((thrown) => thrown);
    expect(inspect([error, error.stack, error.cause], { depth: 10 })).not.toContain(secret);
  });
});

test("a token with characters that are not allowed in a header fails with its source, and nothing is sent or retried", async () => {
  const service = await start(ok);
  const { client } = clientOf(service, { token: commandToken("echo hunter2-😀", { origin: "my command" }) });
  const error = (await client.call(list, {}).catch((reason) => reason)) as Error;
  expect(error).toBeInstanceOf(TokenError);
  expect(error.message).toBe(
    "the token from my command contains characters that are not allowed in an HTTP header",
  );
  expect(service.arrived).toEqual([]);
});

test("a token without the scope of a call is no reason to check the key: the error shows how to see the scopes", async () => {
  const service = await start(reply(403, { error: { code: "FORBIDDEN", message: "the scope is missing" } }));
  const { client } = clientOf(service);
  const error = (await client.call(list, {}).catch((reason) => reason)) as Error;
  expect(error.message).toMatch(
    /403 FORBIDDEN: the scope is missing; .* See the scopes it covers with `recommender whoami`\.$/,
  );
  expect(error.message).not.toMatch(/check .*apiKey/i);
});

test.each([401, 403])("a proxy's page with %i does not blame the token", async (status) => {
  const service = await start(reply(status, "<html><title>Blocked</title>"));
  const { client } = clientOf(service);
  const upsert = client.send(routes.upsertDatasetUsers, Buffer.from("{}"));
  const error = (await upsert.catch((reason) => reason)) as Error;
  expect(error.message).toBe(
    `POST /upsert-dataset-users: ${status}: an HTML page titled "Blocked" came instead of JSON; a proxy sent this ` +
      `response, not the service. Check the proxies and firewalls on the way to ${service.url}.`,
  );
});

test("a rejected fixed token is not tried again, and the error names its source", async () => {
  const service = await start(reply(401, { error: { code: "EXPIRED", message: "token expired" } }));
  const { client } = clientOf(service);
  await expect(client.call(list, {})).rejects.toThrow(
    /401 EXPIRED: token expired; the token came from accessToken. Check it with `recommender whoami`\.$/,
  );
  expect(service.arrived).toHaveLength(1);
});
