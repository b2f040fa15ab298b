import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { forPages, Recommender, type RecommenderOptions } from "../../web/index";
import { reply, scriptedServer } from "../client/server";

/** Long enough for a busy machine. */
const timeoutMs = 600_000;
const page = "<html>Bad gateway</html>";
const token = JSON.stringify({ access_token: "token", expires_in: 3600 });

type Response = readonly [status: number, body: string];

let server: Server;
let url: string;
/** The next responses to token requests and to calls. */
let tokens: Response;
let calls: Response;
beforeAll(async () => {
  server = createServer((request, response) => {
    const [status, body] = request.url === "/oauth/token" ? tokens : calls;
    response.writeHead(status, { connection: "close" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  tokens = [200, token];
});
afterAll(() => server.close());

const asked = (more: Partial<RecommenderOptions>) =>
  new Recommender({ url, key: "rp_x", retries: 0, timeoutMs, ...more }).recommend("ada", {
    otherwise: ["i1"],
  });

describe.each([
  [200, page],
  [200, ""],
  [200, "null"],
  [200, '"text"'],
  [200, "{}"],
  [200, '{"results":[null]}'],
  [200, '{"results":[{"item":{}}]}'],
  [404, page],
  [502, '{"error":"no upstream"}'],
  [502, '{"error":{"message":{"text":"no upstream"},"details":"none"}}'],
  [502, '{"error":{"details":[null,{"path":1}]}}'],
])("if a gateway answers %d with %j", (status, body) => {
  beforeEach(() => {
    calls = [status, body];
  });

  test("a page falls back to other items", async () => {
    expect(await asked({ ...forPages, timeoutMs })).toMatchObject({
      source: "otherwise",
      items: [{ itemId: "i1" }],
      error: { name: "RecommenderError" },
    });
  });

  test("a server gets one error with a text", async () => {
    const error = expect.not.stringContaining("[object");
    const code = status === 200 ? "INVALID" : `HTTP_${status}`;
    await expect(asked({})).rejects.toMatchObject({ name: "RecommenderError", code, message: error });
  });

  test("instead of returning a token, the call falls back too", async () => {
    tokens = [status, body];
    const found = await asked({ ...forPages, timeoutMs, key: "secret", clientId: "shop" });
    expect(found).toMatchObject({ source: "otherwise", error: { name: "RecommenderError" } });
  });
});

test("keys and secrets do not follow a redirect to another address", async () => {
  const elsewhere = await scriptedServer(reply(200, token));
  const redirecting = await scriptedServer(reply(307, "", { location: `${elsewhere.url}/taken` }));
  for (const key of [{ key: "rp_x" }, { key: "secret", clientId: "shop" }])
    await expect(asked({ ...key, url: redirecting.url })).rejects.toMatchObject({ code: "UNREACHABLE" });
  expect(redirecting.arrived.map(({ path }) => path)).toEqual(["/recommend-items-to-user", "/oauth/token"]);
  expect(elsewhere.arrived).toEqual([]);
  await Promise.all([redirecting.close(), elsewhere.close()]);
});
