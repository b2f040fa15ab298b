import { statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { limits } from "../../../contract";
import { testInDirectory } from "../database";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";

describe("authentication", () => {
  const clock = new ManualClock();
  let api: Running;
  beforeAll(async () => {
    api = await Running.start({ clock });
  });
  afterAll(() => api.end());

  const path = "/list-event-datasets";
  const tryWith = async (headers: Record<string, string>) => api.raw(path, { headers });
  const ask = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    api.raw("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams(form).toString(),
    });

  testInDirectory("the key is readable only by its owner", async () => {
    expect(statSync(api.service.keyFile).mode & 0o777).toBe(0o600);
    expect(statSync(api.service.dataDir).mode & 0o777).toBe(0o700);
  });

  test("a token for one path is issued for the key, sent as form, JSON or Basic", async () => {
    const form = {
      grant_type: "client_credentials",
      client_id: "anyone",
      client_secret: api.service.key,
      scope: path,
    };
    const expected = {
      access_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 3600,
      scope: path,
    };
    expect((await ask(form)).body).toEqual(expected);
    const json = await api.raw("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(form),
    });
    expect(json.body).toEqual(expected);
    const basic = `Basic ${Buffer.from(`anyone:${api.service.key}`).toString("base64")}`;
    const { client_secret: _, ...withoutSecret } = form;
    expect((await ask(withoutSecret, { authorization: basic })).body).toEqual(expected);
    expect((await ask({ ...form, client_secret: "wrong" })).status).toBe(401);
    expect((await ask({ ...form, scope: "/nowhere" })).status).toBe(400);
    expect((await ask({ ...form, grant_type: "password" })).status).toBe(400);
  });

  test("key and token are both required, and each error has its own message", async () => {
    const good = await api.headers(path);
    expect((await tryWith(good)).status).toBe(200);
    const says = async (headers: Record<string, string>, status: number, text: string) =>
      expect(await tryWith(headers)).toMatchObject({
        status,
        body: { error: { message: expect.stringContaining(text) } },
      });
    await says({ authorization: good.authorization as string }, 401, "APIKey is missing");
    await says({ ...good, apikey: "rk_wrong" }, 401, "The APIKey is wrong");
    await says({ apikey: good.apikey as string }, 401, "Authorization: Bearer <token> is missing");
    await says({ ...good, authorization: "Bearer nonsense" }, 401, "not valid");
    await says({ ...good, authorization: `${good.authorization}x` }, 401, "not valid");
    const other = await api.headers("/get-job");
    await says(other, 403, `Get one for the scope ${path}`);
  });

  test.each([
    ["a form", "application/x-www-form-urlencoded", Buffer.alloc(limits.tokenRequestBytes + 1, "a"), {}, 413],
    ["JSON", "application/json", Buffer.alloc(22_000_000, "["), {}, 413],
    [
      "a compressed form",
      "application/x-www-form-urlencoded",
      gzipSync("grant_type=client_credentials"),
      { "content-encoding": "gzip" },
      415,
    ],
    [
      "packed JSON",
      "application/json",
      gzipSync(Buffer.alloc(22_000_000, "[")),
      { "content-encoding": "gzip" },
      415,
    ],
  ])("the service does not read %s that is large", async (_, type, body, headers, status) => {
    const answer = await api.raw("/oauth/token", {
      method: "POST",
      headers: { "content-type": type, ...headers },
      body,
    });
    expect(answer).toMatchObject({ status, body: { error: { code: expect.any(String) } } });
  });

  test("a token expires", async () => {
    const headers = { apikey: api.service.key, authorization: `Bearer ${await api.token(path)}` };
    clock.advance(3_599_000);
    expect((await tryWith(headers)).status).toBe(200);
    clock.advance(1_000);
    expect(await tryWith(headers)).toMatchObject({
      status: 401,
      body: { error: { message: expect.stringContaining("expired") } },
    });
  });

  test("a token without a signature is rejected", async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const token = `${part({ alg: "none", typ: "JWT" })}.${part({ scope: path, exp: 9_999_999_999 })}.`;
    expect((await tryWith({ apikey: api.service.key, authorization: `Bearer ${token}` })).status).toBe(401);
  });

  test("authentication is checked after method and path, and before the body", async () => {
    const wrong = { method: "POST", headers: { "content-type": "text/plain" }, body: "x" };
    expect((await api.raw("/create-project", wrong)).status).toBe(401);
    expect((await api.raw("/no-such-call", wrong)).status).toBe(404);
    expect(await api.raw("/create-project")).toMatchObject({ status: 405, answered: { allow: "POST" } });
  });
});
