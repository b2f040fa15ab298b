import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { type Clients, type ClientsPlace, withClients } from "../../../service";
import { askDatabase, newDatabase, testInDirectory, testStore } from "../database";
import { run, type ServiceProcess, serve } from "../process";
import { Caller, Running } from "../running";

describe("a client with its own scopes", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "recommender-clients-"));
  const lines: string[] = [];
  const log = new Writable({
    write: (line, _, done) => {
      lines.push(String(line));
      done();
    },
  });
  const texts: string[] = [];
  const secrets: string[] = [];
  const callers: Caller[] = [];
  let api: Running;
  let place: string[];
  let other: ServiceProcess | undefined;
  beforeAll(async () => {
    api = await Running.start({ dataDir, log, faults: true });
    place = api.options.store === undefined ? ["--data", dataDir] : ["--store", api.options.store];
    if (api.options.store === undefined) return;
    process.env.RECOMMENDER_API_KEY = api.service.key;
    other = await serve(...place, "--role", "api");
  });
  afterAll(async () => {
    await other?.end();
    await Promise.all(callers.map((caller) => caller.close()));
    await api.end();
    rmSync(dataDir, { recursive: true });
  });

  const command = async (...words: string[]) => {
    const { code, out, err } = await run("clients", ...words, ...place, "--json");
    texts.push(err);
    return { code, err, answer: out === "" ? undefined : JSON.parse(out) };
  };
  const clients = <T>(work: (clients: Clients) => Promise<T>): Promise<T> => {
    const { store } = api.options;
    const where: ClientsPlace = store === undefined ? { dataDir } : { store };
    return withClients(where, work);
  };
  const callerOf = (name: string, key: string, url = api.service.url) => {
    const caller = new Caller({ url, key }, name);
    callers.push(caller);
    secrets.push(key);
    return caller;
  };
  const added = async (name: string, ...scopes: string[]) =>
    callerOf(name, (await clients((all) => all.add(name, scopes))).secret);
  const ask = async (form: Record<string, string>, authorization?: string) => {
    const answer = await api.raw("/oauth/token", {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        ...(authorization !== undefined && { authorization }),
      },
      body: new URLSearchParams({ grant_type: "client_credentials", ...form }).toString(),
    });
    if (answer.status !== 200) texts.push(answer.text);
    return answer;
  };
  const tryWith = async (headers: Record<string, string>, path = "/list-event-datasets", base = "") => {
    const answer = await api.raw(base + path, { headers });
    if (answer.status !== 200) texts.push(answer.text);
    return answer;
  };
  const says = (status: number, text: string | RegExp) => ({
    status,
    body: { error: { message: expect.stringMatching(text) } },
  });

  test("is added and listed by the command while the service runs, and its secret is shown only once", async () => {
    const { answer } = await command("add", "ci", "--scopes", "read,/create-project");
    expect(answer).toEqual({
      id: expect.stringMatching(/^client-[0-9a-f]{20}$/),
      name: "ci",
      scopes: ["/get-event-dataset", "/list-event-datasets", "/create-project", "/get-job"].concat([
        "/get-model",
        "/list-models",
        ...["/get-user-dataset", "/get-item-dataset", "/get-project", "/get-algorithm", "/get-deployment"],
        "/count-dataset-records",
        "/count-model-events",
        "/list-recent-users",
        "/list-orphans",
      ]),
      createdTs: expect.any(Number),
      secret: expect.stringMatching(/^rc_[0-9a-f]{20}_[\w-]{43}$/),
    });
    const { secret, ...shown } = answer;
    expect((await command("list")).answer).toEqual({ clients: [shown] });

    const scope = "/list-event-datasets";
    const expected = { status: 200, body: { token_type: "Bearer", scope } };
    expect(await ask({ client_id: "ci", client_secret: secret, scope })).toMatchObject(expected);
    const basic = `Basic ${Buffer.from(`ci:${secret}`).toString("base64")}`;
    expect(await ask({ scope }, basic)).toMatchObject(expected);
    for (const form of [
      { client_id: "other", client_secret: secret },
      { client_secret: secret },
      { client_id: "ci", client_secret: `${secret.slice(0, -4)}AAAA` },
      { client_id: "ci", client_secret: secret.replace(/rc_.{20}/, "rc_00000000000000000000") },
    ])
      expect(await ask({ scope, ...form })).toMatchObject(says(401, "nor the secret of the client"));
    expect(await callerOf("ci", secret).call("listEventDatasets", {})).toEqual({ eventDatasets: [] });
  });

  test("cannot make calls without their scope; the error names the command that adds it, and then the call succeeds", async () => {
    const reader = await added("reader", "read");
    const scope = "/create-project";
    const refused = await ask({ client_id: "reader", client_secret: reader.service.key, scope });
    expect(refused).toMatchObject(says(403, "The client reader does not have the scope /create-project"));
    const [, words = ""] = /`recommender clients (.*)`/.exec(refused.body.error.message) ?? [];
    expect(words).toBe("update reader --scopes read,/create-project");
    expect(await command(...words.split(" "))).toMatchObject({ code: 0 });
    const headers = await reader.headers(scope);
    const post = async () =>
      api.raw(scope, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: "{}",
      });
    // Authorized, but the body has no project.
    expect((await post()).status).toBe(400);
    await clients((all) => all.update("reader", ["read"]));
    expect(await post()).toMatchObject(says(403, "does not have the scope /create-project"));
  });

  test("can use its secret only with its own tokens", async () => {
    const [one, two] = [await added("one", "read"), await added("two", "read")];
    const path = "/list-event-datasets";
    const tokens = await Promise.all([api, one, two].map((caller) => caller.headers(path)));
    const keys = [api.service.key, one.service.key, two.service.key];
    for (const [i, { authorization }] of tokens.entries())
      for (const [j, apikey] of keys.entries()) {
        const answer = await tryWith({ apikey, authorization: authorization as string });
        expect({ i, j, status: answer.status }).toEqual({ i, j, status: i === j ? 200 : 401 });
      }
  });

  test("reads /metrics and /status with the scope metrics, and can never inject faults", async () => {
    const prometheus = await added("prometheus", "metrics");
    const bearer = { authorization: `Bearer ${prometheus.service.key}` };
    expect((await tryWith(bearer, "/metrics")).status).toBe(200);
    expect((await tryWith({ apikey: prometheus.service.key }, "/status")).status).toBe(200);
    expect((await tryWith({ apikey: prometheus.service.key }, "/faults")).status).toBe(401);
    const reader = await added("no-metrics", "read");
    expect(await tryWith({ apikey: reader.service.key }, "/metrics")).toMatchObject(
      says(403, "update no-metrics --scopes read,/metrics"),
    );
    expect((await tryWith({ apikey: reader.service.key }, "/status")).status).toBe(403);
  });

  test("is revoked in every process at once, with its earlier tokens, even if its name is added again", async () => {
    const path = "/list-event-datasets";
    const everywhere = [api.service.url, ...(other ? [other.url] : [])];
    expect(everywhere).toHaveLength(testStore === "directory" ? 1 : 2);
    const leaving = await added("leaving", "all");
    const headers = await leaving.headers(path);
    const all = async () => Promise.all(everywhere.map((base) => tryWith(headers, path, base)));
    for (const { status } of await all()) expect(status).toBe(200);
    expect(await command("revoke", "leaving")).toMatchObject({ answer: { revoked: { name: "leaving" } } });
    for (const answer of await all()) expect(answer).toMatchObject(says(401, "has not been revoked"));
    const again = await added("leaving", "all");
    for (const { status } of await all()) expect(status).toBe(401);
    for (const base of everywhere)
      expect((await tryWith(await again.headers(path), path, base)).status).toBe(200);
    const old = { client_id: "leaving", client_secret: leaving.service.key, scope: path };
    expect((await ask(old)).status).toBe(401);
    expect(await command("revoke", "leavin")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Did you mean leaving?"),
    });
  });

  test.each([
    ["a name with a colon", "a:b", ["read"], /lower-case letters/],
    ["an empty name", "", ["read"], /lower-case letters/],
    ["a name with a line break", "a\nb", ["read"], /"a\\nb" cannot be/],
    ["a name that is too long", "a".repeat(65), ["read"], /1 to 64/],
    ["the name of the key's holders", "key", ["read"], /callers with the key of the service/],
    ["no scope", "x", [" "], /at least one scope/],
    ["a path that is nearly one", "x", ["/creat-project"], /did you mean \/create-project\?/],
    ["a path without its slash", "x", ["get-job"], /did you mean \/get-job\?/],
    ["a group that is nearly one", "x", ["raed"], /did you mean read\?/],
    ["a scope that is nothing", "x", ["constructor"], /"constructor" is not a scope\n/],
  ])("is not added with %s", async (_, name, scopes, message) => {
    await expect(clients((all) => all.add(name, scopes))).rejects.toThrow(message);
  });

  test("is added once if several processes add the same name", async () => {
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, () => clients((all) => all.add("same", ["read"]))),
    );
    const reasons = tries.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
    expect(reasons).toHaveLength(7);
    for (const reason of reasons) expect(reason).toContain("The client same already exists");
    const rows = await api.ask("select name from clients where name = 'same'");
    expect(rows).toHaveLength(1);
  });

  test("is added and revoked while the service writes, without blocking it", async () => {
    let changed = false;
    const changes = async () => {
      for (let at = 0; at < 15; at++)
        await clients(async (all) => {
          await all.add(`c${at}`, ["read"]);
          await all.revoke(`c${at}`);
        });
      changed = true;
    };
    let made = 0;
    const writes = async () => {
      for (; !changed; made++) await api.call("createUserDataset", { name: `d${made}`, numShards: 1 });
    };
    await Promise.all([changes(), writes(), writes()]);
    expect((await api.ask("select id from datasets")).length).toBe(made);
    expect(await api.ask("select name from clients where name like 'c_'")).toEqual([{ name: "ci" }]);
  });

  test("has a secret that is not in the store, the log or errors", async () => {
    expect(secrets.length).toBeGreaterThan(5);
    const tables = (await api.ask(
      testStore === "directory"
        ? "select name from sqlite_master where type = 'table'"
        : "select table_name as name from information_schema.tables where table_schema = 'public'",
    )) as { name: string }[];
    expect(tables.map(({ name }) => name)).toContain("clients");
    const rows = await Promise.all(tables.map(({ name }) => api.ask(`select * from ${name}`)));
    const everything = [JSON.stringify(rows), ...lines, ...texts].join("\n");
    expect(everything).toContain("no-metrics");
    for (const secret of secrets) expect(everything).not.toContain(secret.slice(24));
  });

  testInDirectory("has a secret that is in no file of the directory", async () => {
    const files = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const { name } of files)
      for (const secret of secrets)
        expect(readFileSync(join(dataDir, name)).includes(secret.slice(24))).toBe(false);
  });
});

testInDirectory("listing clients of a directory without data fails with the step to take", async () => {
  const empty = mkdtempSync(join(tmpdir(), "recommender-clients-"));
  await expect(withClients({ dataDir: empty }, (all) => all.list())).rejects.toThrow(
    /contains no service data.*recommender serve --data/s,
  );
  expect(readdirSync(empty)).toEqual([]);
  rmSync(empty, { recursive: true });
});

test("listing clients of a database without the current tables fails and does not change it", async () => {
  const database = await newDatabase({ empty: true });
  const listed = withClients({ store: database.url }, (clients) => clients.list());
  await expect(listed).rejects.toThrow(/lacks tables .* `recommender serve --store postgres:/);
  const tables = "select from information_schema.tables where table_schema = 'public'";
  expect(await askDatabase(database.url, tables)).toEqual([]);
  await database.drop();
});
