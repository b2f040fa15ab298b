import { inspect } from "node:util";
import { type Client, TokenError } from "../../client/client";
import { connect } from "../../client/connect";
import { readSettings } from "../../client/settings";
import { routes } from "../../contract";
import { startService, withClients } from "../../service";
import { type Answer, reply, scriptedServer } from "./server";

const apiKey = "rk_the-key-of-the-service";
const list = routes.listEventDatasets;
const algorithm = { projectId: "p", name: "a", algorithmParameters: {} };
const ended: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(ended.splice(0).map((end) => end())));

/** Creates a client with only an address and a key, and without retries. */
async function clientWith(settings: Record<string, string>): Promise<Client> {
  const given: Record<string, string> = { apiKey, ...settings };
  const read = readSettings((key) => given[key], {});
  const client = await connect(read, { retry: { budgetMs: 0 } });
  ended.push(() => client.close());
  return client;
}

async function start(...answers: Answer[]) {
  const server = await scriptedServer(...answers);
  ended.push(() => server.close());
  return server;
}

const failureOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error("the call succeeded"),
    (error) => error,
  );

describe("an address and a key without a token source", () => {
  test("request the token from the service, with the key as the secret", async () => {
    const token = reply(200, { access_token: "t", expires_in: 3600 });
    const service = await start(token, reply(200, { event_datasets: [] }));
    const client = await clientWith({ baseUrl: `${service.url}/v1/` });
    await client.call(list, {});
    const [asked, called] = service.arrived;
    expect(asked.path).toBe("/v1/oauth/token");
    expect(Object.fromEntries(new URLSearchParams(asked.body as string))).toEqual({
      grant_type: "client_credentials",
      client_id: "pulumi-recommender",
      client_secret: apiKey,
      scope: list.path,
    });
    expect(called.headers).toMatchObject({ authorization: "Bearer t", apikey: apiKey });
  });

  test("are enough for a service of this package, and with a client id for one of its clients", async () => {
    const service = await startService({ log: "none" });
    ended.push(() => service.close());
    const { url, key, dataDir } = service;
    await (await clientWith({ baseUrl: url, apiKey: key })).call(list, {});
    const { secret } = await withClients({ dataDir }, (clients) => clients.add("ci", ["read"]));
    const client = await clientWith({ baseUrl: url, apiKey: secret, clientId: "ci" });
    await client.call(list, {});
    // The service has issued a token before, so the error does not suggest other token sources.
    const refused = await failureOf(client.call(routes.createEventDataset, { name: "n", numShards: 1 }));
    expect(refused.message).toMatch(/The client ci does not have the scope \/create-event-dataset/);
    expect(refused.message).not.toContain("No source of access tokens");
  });

  test("fail with a command to run if the key is rejected, is a client secret without client id, or lacks a scope", async () => {
    const service = await startService({ log: "none" });
    ended.push(() => service.close());
    const { url, dataDir } = service;
    const { secret } = await withClients({ dataDir }, (clients) => clients.add("ci", ["read"]));
    const messageFor = async (settings: Record<string, string>) =>
      (
        await failureOf(
          (await clientWith({ baseUrl: url, ...settings })).call(routes.createAlgorithm, algorithm),
        )
      ).message;
    expect(await messageFor({ apiKey: "rk_wrong" })).toBe(
      `${url}/oauth/token rejects recommender:apiKey (401 UNAUTHENTICATED). Check with \`recommender whoami\`.`,
    );
    expect(await messageFor({ apiKey: secret })).toBe(
      "recommender:apiKey is the secret of a client (rc_…), but recommender:clientId is not set. Set it with " +
        "`pulumi config set recommender:clientId VALUE` or RECOMMENDER_CLIENT_ID. Check with `recommender whoami`.",
    );
    expect(await messageFor({ apiKey: secret, clientId: "ci" })).toMatch(
      /^The client ci does not have the scope \/create-algorithm\. .*\. See which scopes get a token with `recommender whoami`\.$/,
    );
  });

  const quoting: Answer = (request, response) => reply(400, `what is ${request.body}?`)(request, response);

  test.each<[string, Answer, string]>([
    ["returns 404", reply(404, { message: "no such path" }), "(404: no such path)"],
    ["returns HTML", reply(200, "<html>"), "returned 200 without an access_token"],
    ["returns nothing", reply(204, ""), "returned 204 without an access_token"],
    ["redirects", reply(302, "", { location: "/login" }), "(302: the response has no body)"],
    ["quotes the secret", quoting, "client_secret=[secret]"],
  ])("are not enough if the address %s", async (_, answer, words) => {
    const service = await start(answer);
    const address = service.url.replace("//", "//somebody:hunter2-hunter2@");
    const error = await failureOf((await clientWith({ baseUrl: address })).call(list, {}));
    expect(error).toBeInstanceOf(TokenError);
    expect(error.message.startsWith(`${service.url}/oauth/token `)).toBe(true);
    expect(error.message).toContain(words);
    expect(error.message).toContain(
      "If the service does not issue tokens for its key, set recommender:accessToken " +
        "(`pulumi config set --secret recommender:accessToken VALUE`), recommender:tokenCommand or recommender:tokenUrl.",
    );
    expect(inspect([error, error.stack, error.cause], { depth: 10 })).not.toMatch(/rk_the-key|hunter2/);
    expect(service.arrived.map(({ path }) => path)).toEqual(["/oauth/token"]);
  });

  test("fail with the address and the reason first if nothing listens there", async () => {
    const error = await failureOf((await clientWith({ baseUrl: "http://127.0.0.1:9" })).call(list, {}));
    expect(error).toMatchObject({ transient: true, isUnreachable: true });
    expect(error.message).toBe(
      "http://127.0.0.1:9 refuses connections (ECONNREFUSED), tried for 0 s. Is the service running? " +
        "Check the address with `recommender whoami`.",
    );
  });
});
