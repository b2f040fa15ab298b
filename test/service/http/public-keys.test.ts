import { explainHeader, routes } from "../../../contract";
import type { Clients, PageSettings } from "../../../service";
import { run } from "../process";
import type { Running } from "../running";
import { origin, PageShop, path } from "./page-shop";

const json = { "content-type": "application/json" };

describe("a public key", () => {
  let shop: PageShop;
  let api: Running;
  let projectId: string;
  let key: string;
  beforeAll(async () => {
    shop = await PageShop.open();
    ({ api } = shop);
    ({ projectId } = shop.ids);
    key = await shop.added("page", { attributes: ["genre", "price"], addressQps: 10_000 });
  });
  afterAll(() => shop.close());

  const clients = <T>(work: (clients: Clients) => Promise<T>) => shop.clients(work);
  const added = (name: string, more?: Partial<PageSettings>) => shop.added(name, more);
  const post: PageShop["post"] = (...call) => shop.post(...call);
  const recommend = (input: object = {}, headers: Record<string, string> = {}, to = path) =>
    post(to, { user_id: "u1", ...input }, { origin, apikey: key, ...headers });
  const says = (status: number, text: string | RegExp) => ({
    status,
    body: { error: { message: expect.stringMatching(text) } },
  });

  test("gets the same recommendations as a client with a secret, which pages of its origin can read", async () => {
    const input = {
      limit: 5,
      attributes: ["genre"],
      filter_query: 'item.price < 40 && "drama" in item.genre',
      exclude_item_ids: ["i0", "i4"],
      events: [{ item_id: "i8" }],
    };
    const found = await recommend(input);
    expect(found.status).toBe(200);
    expect(found.body.results).toHaveLength(5);
    const asked = { user_id: "u1", ...input };
    expect(found.body).toEqual((await post(path, asked, await api.headers(path))).body);
    expect(found.answered).toMatchObject({ vary: "Origin", "access-control-allow-origin": origin });
    expect(found.answered["access-control-allow-credentials"]).toBeUndefined();
    for (const base of [`/serving/${projectId}`, ""])
      expect((await recommend(input, {}, base + path)).body).toEqual(found.body);
    expect(await recommend({}, { origin: "http://localhost:5173" })).toMatchObject({ status: 200 });
    const similar = { item_ids: ["i1"], attributes: ["price"], limit: 3 };
    expect((await post("/recommend-items-to-item", similar, { origin, apikey: key })).status).toBe(200);
  });

  test("is announced to the browser by the answer to its preflight request", async () => {
    const ask = { "access-control-request-method": "POST", "access-control-request-headers": "apikey" };
    for (const to of [path, `/serving/${projectId}${path}`, `/serving/stack/a/b/c${path}`]) {
      const answer = await api.raw(to, { method: "OPTIONS", headers: { origin, ...ask } });
      expect(answer).toMatchObject({ status: 204, text: "" });
      expect(answer.answered).toMatchObject({
        vary: "Origin",
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "apikey, content-type",
      });
    }
    const other = await api.raw("/create-project", { method: "OPTIONS", headers: { origin, ...ask } });
    expect(other.status).toBe(405);
    expect(other.answered["access-control-allow-origin"]).toBeUndefined();
  });

  test.each([
    [
      "a hostile page",
      { origin: "https://evil.test" },
      /page cannot be used by pages of https:\/\/evil\.test/,
    ],
    ["a page with a similar name", { origin: `${origin}.evil.test` }, /cannot be used by pages/],
    ["a page on another port", { origin: `${origin}:8443` }, /cannot be used by pages/],
    ["a page without TLS", { origin: "http://shop.example.com" }, /cannot be used by pages/],
    ["a sandboxed frame", { origin: "null" }, /cannot be used by pages of null/],
    ["an empty origin", { origin: "" }, /cannot be used by pages/],
  ])("is refused from %s, which can read the reason but no items", async (_, headers, message) => {
    const answer = await recommend({}, headers);
    expect(answer).toMatchObject(says(403, message));
    expect(answer.body.results).toBeUndefined();
    expect(answer.body.error.message).not.toContain(`${origin},`);
    expect(answer.answered).toMatchObject({ "access-control-allow-origin": headers.origin, vary: "Origin" });
  });

  test("is refused without an origin, and if it is wrong or revoked", async () => {
    const asked = { user_id: "u1" };
    expect(await post(path, asked, { apikey: key })).toMatchObject(says(403, "only be used by web pages"));
    const wrong = await recommend({}, { apikey: `${key.slice(0, -4)}AAAA` });
    expect(wrong).toMatchObject(says(401, "wrong or was revoked"));
    expect(wrong.answered["access-control-allow-origin"]).toBe(origin);
    const leaving = await added("leaving");
    expect((await recommend({}, { apikey: leaving })).status).toBe(200);
    await clients((all) => all.revoke("leaving"));
    expect((await recommend({}, { apikey: leaving })).status).toBe(401);
  });

  test("cannot send bodies as large as those of other clients", async () => {
    const ids = (count: number) => ({
      exclude_item_ids: Array.from({ length: count }, (_, at) => `x${at}`.padEnd(256, "-")),
    });
    expect((await recommend(ids(200))).status).toBe(200);
    expect(await recommend(ids(300))).toMatchObject(
      says(413, "65536 bytes, the limit for calls with a public key"),
    );
    const asked = { user_id: "u1", ...ids(300) };
    expect((await post(path, asked, await api.headers(path))).status).toBe(200);
  });

  test("lets the page read that its input is invalid", async () => {
    const answer = await recommend({ limit: -1 });
    expect(answer).toMatchObject({ status: 400, body: { error: { details: [{ path: "limit" }] } } });
    expect(answer.answered["access-control-allow-origin"]).toBe(origin);
  });

  test("can use no other operation, with or without a token of another client", async () => {
    const before = JSON.stringify([
      await api.ask("select * from datasets"),
      await api.ask("select * from jobs"),
    ]);
    const { authorization } = (await api.headers("/create-project")) as { authorization: string };
    for (const { method, path: to } of Object.values(routes)) {
      if (to.startsWith("/recommend-items")) continue;
      for (const headers of [{}, { authorization }]) {
        const body = method === "GET" ? undefined : "{}";
        const answer = await api.raw(to, {
          method,
          headers: { ...json, origin, apikey: key, ...headers },
          ...(body !== undefined && { body }),
        });
        expect({ to, ...answer }).toMatchObject({ to, ...says(403, "only be used for recommendations") });
        expect(answer.answered["access-control-allow-origin"]).toBeUndefined();
      }
    }
    for (const to of ["/metrics", "/status", "/faults"])
      expect({ to, status: (await api.raw(to, { headers: { apikey: key } })).status }).toEqual({
        to,
        status: 403,
      });
    expect((await api.raw("/metrics", { headers: { authorization: `Bearer ${key}` } })).status).toBe(403);
    expect((await post("/console/code", {}, { apikey: key })).status).toBe(403);
    const form = { grant_type: "client_credentials", client_id: "page", client_secret: key, scope: path };
    expect(await post("/oauth/token", form, {})).toMatchObject(says(403, "without a token"));
    expect(
      JSON.stringify([await api.ask("select * from datasets"), await api.ask("select * from jobs")]),
    ).toBe(before);
  });

  test("cannot be given other scopes, not even in the database", async () => {
    await expect(clients((all) => all.update("page", ["all"]))).rejects.toThrow(/only recommend items/);
    await api.ask("update clients set scopes = '/create-project' where name = 'page'");
    expect(await post("/create-project", {}, { origin, apikey: key })).toMatchObject({ status: 403 });
    const asSecret = key.replace("rp_", "rc_");
    expect((await api.raw("/status", { headers: { apikey: asSecret } })).status).toBe(401);
    expect((await recommend()).status).toBe(200);
  });

  test.each([
    "user.age > 30",
    'user["age"] > 30',
    "has(user.likes)",
    '!("jazz" in user.likes)',
    'item.price < 20.0 || user.likes == "drama"',
    "item.genre.exists(one, one == user.likes)",
    "item.price < (user.age > 30 ? 10.0 : 20.0)",
  ])("cannot learn about users with the filter %s", async (filter) => {
    const input = { filter_query: filter };
    expect(await recommend(input)).toMatchObject(says(403, /may not filter by user\./));
    const similar = await post(
      "/recommend-items-to-item",
      { item_ids: ["i1"], ...input },
      { origin, apikey: key },
    );
    expect(similar).toMatchObject({ status: 403 });
  });

  test("cannot read or filter by attributes that its pages may not know, nor learn their names", async () => {
    expect(await recommend({ attributes: ["cost"] })).toMatchObject(
      says(403, /may not read the item attribute cost.*--attributes genre,price,cost/),
    );
    for (const filter of ["item.cost > 1", 'item["cost"] > 1.0', "item.price > 1 && has(item.cost)"])
      expect(await recommend({ filter_query: filter })).toMatchObject(
        says(403, /may not filter by item\.cost.*update page --attributes genre,price,cost/),
      );
    // Whether an attribute exists is not revealed either.
    expect(await recommend({ filter_query: "item.cos > 1" })).toMatchObject(says(403, /item\.cos\b/));
    for (const filter of ["item > 1", "user", "item", "item[user.age] == 1", "pric > 1"]) {
      const { status, text } = await recommend({ filter_query: filter });
      expect({ filter, status: status >= 400, text }).toMatchObject({ filter, status: true });
      expect(text).not.toContain("cost");
      expect(text).not.toContain("likes");
    }
  });

  test("cannot ask for reasons, which name items of the user", async () => {
    expect(await recommend({}, { [explainHeader]: "3" })).toMatchObject(says(403, /may not ask for reasons/));
  });

  test("is bound to one project, and does not reveal whether there are others", async () => {
    const { userDatasetId, itemDatasetId, eventDatasetId } = shop.ids;
    const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
    const { projectId: other } = await api.call("createProject", {
      ...datasets,
      name: "other",
      targetEventType: "purchase",
    });
    const refused = await Promise.all(
      [`/serving/${other}`, "/serving/project-none", "/serving/stack/a/b/c"].map((base) =>
        recommend({}, {}, base + path),
      ),
    );
    for (const answer of refused) expect(answer).toMatchObject(says(403, `only be used for ${projectId}`));
    await expect(added("lost", { project: "project-none" })).rejects.toThrow(/There is no project/);
    const byAddress = await added("by-address", { project: `${api.service.url}/serving/${projectId}` });
    expect((await recommend({}, { apikey: byAddress })).status).toBe(200);
    const later = await added("later", { project: "stack/shop/dev/live" });
    expect((await recommend({}, { apikey: later })).status).toBe(409);
    await added("spaced", { project: "stack/my shop/dev/live%20now" });
    const { pages } = (await clients((all) => all.list())).find(({ name }) => name === "spaced") ?? {};
    expect(pages?.project).toBe("stack/my%20shop/dev/live%20now");
    await expect(added("broken", { project: "stack/shop/dev/%" })).rejects.toThrow(/There is no project/);
  });

  test("is added, changed and listed by the command", async () => {
    const where = api.options.store === undefined ? ["--data", shop.dataDir] : ["--store", api.options.store];
    const command = (...words: string[]) => run("clients", ...words, ...where);
    const added = await command("add", "cli", "--origins", origin, "--project", projectId, "--json");
    expect(JSON.parse(added.out)).toMatchObject({
      name: "cli",
      scopes: ["/recommend-items-to-user", "/recommend-items-to-item"],
      pages: { project: projectId, origins: [origin], attributes: [], addressQps: 10, keyQps: null },
      secret: expect.stringMatching(/^rp_[0-9a-f]{20}_[\w-]{43}$/),
    });
    const changed = await command("update", "cli", "--attributes", "price", "--key-qps", "9", "--json");
    expect(JSON.parse(changed.out).pages).toMatchObject({
      origins: [origin],
      attributes: ["price"],
      keyQps: 9,
    });
    expect((await command("list")).out).toMatch(/recommend, from pages of/);
    expect(await command("add", "half", "--origins", origin)).toMatchObject({
      code: 1,
      err: expect.stringContaining("--project"),
    });
    expect((await command("add", "both", "--origins", origin, "--scopes", "all")).code).not.toBe(0);
  });
});
