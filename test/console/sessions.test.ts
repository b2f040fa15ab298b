import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { globSync } from "tinyglobby";
import { request } from "undici";
import { type Service, startService, withClients } from "../../service";
import { openContext } from "../browser";
import type { Caller } from "../service/running";
import { Shop, show } from "./page";

let shop: Shop;
let [service, caller, browser, projectId] = [] as unknown as [Service, Caller, Browser, string];
beforeAll(async () => {
  shop = await Shop.open();
  ({ service, caller, browser, projectId } = shop);
});
afterAll(() => shop?.close());

describe("signing in", () => {
  test("a link opens a session that needs both the cookie and the token, from the page itself", async () => {
    const { page, context, faults } = await shop.signIn();
    expect(page.url()).toBe(`${service.url}/`);
    const [cookie, ...others] = await context.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({
      name: expect.stringMatching(`^recommender_console_${new URL(service.url).port}_\\w{8}$`),
      httpOnly: true,
      sameSite: "Strict",
    });
    const token = await page.evaluate<string>('sessionStorage.getItem("recommender-console-token")');
    const ask = async (headers: Record<string, string>) =>
      (await caller.raw("/console/api/overview", { headers })).status;
    const whole = { cookie: `${cookie?.name}=${cookie?.value}`, "x-console-token": token };
    expect(await ask(whole)).toBe(200);
    expect(await ask({ cookie: whole.cookie })).toBe(401);
    expect(await ask({ "x-console-token": token })).toBe(401);
    expect(await ask({ ...whole, "x-console-token": `${token}x` })).toBe(401);
    expect(await ask({ ...whole, host: "evil.test" })).toBe(403);
    expect(await ask({ ...whole, origin: "http://evil.test" })).toBe(403);
    expect(await ask({ ...whole, "sec-fetch-site": "same-site" })).toBe(403);
    // The session is read-only: it can recommend, but not change data.
    const call = async (path: string, body: object) =>
      caller.raw(path, {
        method: "POST",
        headers: { ...whole, origin: service.url, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const refused = await call("/create-event-dataset", { name: "x", num_shards: 1 });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("recommender open --write");
    expect((await call("/recommend-items-to-user", { user_id: "ada" })).status).toBe(200);
    expect(faults).toEqual([]);

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("npx recommender open").waitFor();
    expect(await ask(whole)).toBe(401);
    await context.close();
  });

  test("a link works once, and without a session the page shows only how to sign in", async () => {
    const used = await shop.link();
    const first = await openContext(browser);
    const page = await first.newPage();
    await page.goto(used);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const second = await openContext(browser);
    const stranger = await second.newPage();
    await stranger.goto(used);
    await stranger.getByText("was already used or is older than a minute").waitFor();
    const text = await stranger.evaluate<string>("document.body.innerText");
    expect(text).toContain("npx recommender open");
    expect(text).toContain("A session is valid in one tab only");
    for (const secret of ["record-shop", projectId, service.dataDir]) expect(text).not.toContain(secret);
    await first.close();
    await second.close();
  });

  test("pages from other sites, ports and host names get no data", async () => {
    const { context, page: own } = await shop.signIn();
    const seen: string[] = [];
    const other = createServer((asked, answer) => {
      seen.push(String(asked.headers.cookie));
      answer.setHeader("content-type", "text/html").end("<!doctype html><title>other</title>");
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const page = await context.newPage();
    const steal = (url: string, init: object) =>
      page.evaluate(
        `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then((a) => a.text(), (e) => "refused: " + e.message)`,
      );
    // Another port of this host gets the cookie, but the cookie is not enough.
    await page.goto(`http://127.0.0.1:${port}/`);
    expect(seen[0]).toContain("recommender_console_");
    expect(await steal(`${service.url}/console/api/overview`, { credentials: "include" })).toMatch(
      /^refused/,
    );
    await steal(`${service.url}/console/session`, {
      method: "POST",
      mode: "no-cors",
      credentials: "include",
    });
    // Under another host name, the service does not even send the page.
    const rebound = `http://evil.test:${new URL(service.url).port}`;
    const answer = await page.goto(`${rebound}/`);
    expect(answer?.status()).toBe(403);
    // The page cannot be embedded in a frame.
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.evaluate(
      `new Promise((done) => { const frame = document.createElement("iframe"); frame.src = ${JSON.stringify(service.url)}; frame.onload = done; document.body.append(frame); })`,
    );
    const framed = page.frames()[1];
    expect(await framed?.evaluate("document.querySelector('#app')").catch(() => null)).toBeNull();
    await own.reload();
    await own.getByRole("heading", { name: "Overview" }).waitFor();
    await context.close();
    other.closeAllConnections();
    other.close();
  });
});

test("the page names missing scopes, and a screen that fails shows an error", async () => {
  const { dataDir } = shop.service;
  const { secret } = await withClients({ dataDir }, (all) =>
    all.add("looker", ["/status", "/get-event-dataset"]),
  );
  const { page, context } = await shop.signIn({}, {}, secret);
  await show(page, "try/ada", "Try it");
  await page.getByText("The client looker does not have the scope /recommend-items-to-user").waitFor();
  await page.route("**/console/api/overview*", (route) => route.fulfill({ json: {} }));
  await page.evaluate("location.hash = '#/toString'");
  await page.getByRole("alert").getByText("Cannot show this").waitFor();
  await page.unroute("**/console/api/overview*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await show(page, "questions", "Questions");
  await page.getByText("This session cannot ask questions").waitFor();
  expect(await page.getByRole("button", { name: "Ask", exact: true }).isDisabled()).toBe(true);
  const status = await page.evaluate(
    `fetch("submit-clustering-job", { method: "POST", body: "{}", headers: { "content-type": "application/json",
      "x-console-token": sessionStorage.getItem("recommender-console-token") } }).then((answer) => answer.status)`,
  );
  expect(status).toBe(403);
  await context.close();
});

test("the page is small and has a strict content security policy", async () => {
  const answer = await request(`${service.url}/`);
  const text = await answer.body.text();
  const { "content-security-policy": policy, "x-frame-options": frames } = answer.headers;
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect(frames).toBe("DENY");
  expect(text).not.toMatch(/<script(?![^>]*src)/);
  const scripts = globSync("dist/console/*.js", { cwd: join(__dirname, "../..") });
  const bytes = scripts.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(__dirname, "../..", file))).length,
    0,
  );
  expect(scripts.length).toBeGreaterThan(4);
  // Even all screens together stay below the limit for the first load.
  expect(bytes).toBeLessThan(60_000);
});

test("the console is off by default if other machines can reach the service", async () => {
  const open = await startService({ log: "none", publicUrl: "https://shop.example" });
  const asked = await request(`${open.url}/`);
  expect(asked.statusCode).toBe(404);
  expect(await asked.body.text()).toContain("--console");
  await open.close();
});
