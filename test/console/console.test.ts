import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { globSync } from "tinyglobby";
import { request } from "undici";
import { type Service, startService } from "../../service";
import type { Caller } from "../service/running";
import { barriers, broken, hostile, overhang, picture, Shop, show } from "./page";
import { recordShop } from "./shop";

let shop: Shop;
let [service, caller, browser, projectId] = [] as unknown as [Service, Caller, Browser, string];
beforeAll(async () => {
  shop = await Shop.open();
  ({ service, caller, browser, projectId } = shop);
});
afterAll(() => shop?.close());

/** Every screen, with a text that shows that it was filled. */
const screens: readonly (readonly [place: string, heading: string | RegExp, text: string | RegExp])[] = [
  ["overview", "Overview", "optimised for"],
  ["try/ada", "Try it", "Night Train Home"],
  ["jobs", "Jobs", "Deployment"],
  ["models", "Models", "Quality over time"],
  ["serving", "Serving", "The last hour"],
  ["questions", "Questions", "Asked before"],
  ["datasets", "Datasets", "Records"],
  ["api", "API", "/recommend-items-to-user"],
];

describe("signing in", () => {
  test("a link opens a session whose two halves are both needed, and nobody else's", async () => {
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
    // It is for looking: what changes something is refused, what asks is not.
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

  test("a link works once; without a session the page says how to get in and nothing else", async () => {
    const used = await shop.link();
    const first = await browser.newContext({ locale: "en-US" });
    const page = await first.newPage();
    await page.goto(used);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const second = await browser.newContext({ locale: "en-US" });
    const stranger = await second.newPage();
    await stranger.goto(used);
    await stranger.getByText("was used already or is older than a minute").waitFor();
    const text = await stranger.evaluate<string>("document.body.innerText");
    expect(text).toContain("npx recommender open");
    expect(text).toContain("A session holds for one tab");
    for (const told of ["record-shop", projectId, service.dataDir]) expect(text).not.toContain(told);
    await first.close();
    await second.close();
  });

  test("pages of other sites, ports and names get nothing", async () => {
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
    // Another port of this host gets the cookie, and that is not enough.
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
    // Another name for this host: the page is not even shown.
    const rebound = `http://evil.test:${new URL(service.url).port}`;
    const answer = await page.goto(`${rebound}/`);
    expect(answer?.status()).toBe(403);
    // A frame around it stays empty.
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

test("Try it shows why, and what other events would change, and stores nothing", async () => {
  const { page, context, faults } = await shop.signIn();
  await show(page, "try", "Try it");
  await page.getByRole("combobox", { name: "User" }).fill("ad");
  await page.getByRole("option").filter({ hasText: "ada" }).click();
  const first = page.locator(".ranked > li").first();
  await first.waitFor();
  const { results } = await caller.call("recommendItemsToUser", { userId: "ada", limit: 10 });
  const shown = await page.locator(".ranked .id").allTextContents();
  expect(shown).toEqual(results.map(({ item }) => item.itemId));
  // The parts sum to the score.
  const score = Number((await first.locator("> .num").textContent())?.trim());
  const parts = await first.locator(".why .num").allTextContents();
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.reduce((sum, part) => sum + Number(part), 0)).toBeCloseTo(score, 1);
  const own = page.getByRole("region", { name: "What if" });
  const out = own.getByRole("button", { name: /^Take out/ }).first();
  const title = (await out.getAttribute("aria-label"))?.replace("Take out ", "");
  await out.click();
  await own.getByRole("button", { name: `Put back ${title}`, exact: true }).waitFor();
  await page.getByText("Undo all").waitFor();
  await page.locator(".moved").first().waitFor();
  const again = await caller.call("recommendItemsToUser", { userId: "ada", limit: 10 });
  expect(again.results).toEqual(results);
  // Enter adds the item that a title means, and nothing that is not there.
  const had = new Set(recordShop().events.flatMap((event) => (event.userId === "ada" ? event.itemId : [])));
  const other = recordShop().items?.find(({ itemId }) => !had.has(itemId)) as {
    itemId: string;
    attributes: { title: string };
  };
  const field = own.getByRole("combobox");
  await field.fill(other.attributes.title.toUpperCase());
  await field.press("Enter");
  await own.getByText("added").waitFor();
  expect([await field.inputValue(), await own.locator(`bdi[title="${other.itemId}"]`).count()]).toEqual([
    ...["", 1],
  ]);
  await field.fill("No Such Record");
  await field.press("Enter");
  await own.getByText("There is no such item.").waitFor();
  expect(await own.getByText("added").count()).toBe(1);
  const code = page.locator("details.code");
  await code.locator("summary").click();
  await code.getByRole("button", { name: "curl" }).click();
  await code.getByText("The API has no call for other events").waitFor();
  await page.setViewportSize({ width: 1024, height: 900 });
  expect([await overhang(page), await broken(page)]).toEqual([0, []]);
  await picture(page, "try-1024");
  // Somebody of whom only attributes are known.
  await page.getByRole("button", { name: "A user without events" }).click();
  const attributes = page.getByLabel(/Attributes of somebody/);
  await attributes.fill('{"country": "FR"}');
  await page.locator(".ranked > li").first().waitFor();
  await page.getByText("Nothing is stored about this user").waitFor();
  expect(await own.getByText("added").count()).toBe(0);
  await code.locator("summary").click();
  const text = code.locator("pre");
  await text.getByText('"attributes":{"country":"FR"}').waitFor();
  expect(await text.textContent()).toContain("/upsert-dataset-users");
  await attributes.fill('{"country": ');
  await page.getByText("This is not JSON yet").waitFor();
  expect(await text.isVisible()).toBe(true);
  expect(faults).toEqual([]);
  await context.close();
});

test("Jobs follow a training while the page is open", async () => {
  const look = await shop.signIn({ viewport: { width: 390, height: 900 } });
  const { page, context } = look;
  await show(page, "jobs", "Jobs");
  await page.locator(".connection.live").waitFor({ state: "attached" });
  const { algorithmId } = await caller.call("createAlgorithm", {
    projectId,
    name: "g1",
    algorithmType: "G1",
    algorithmParameters: { dimensions: 8, epochs: 4 },
  });
  const submitted = await caller.call("submitTrainingJob", { projectId, algorithmId, name: hostile });
  const row = page.locator("tr").filter({ hasText: "bold" });
  await row.waitFor();
  await row.getByText("done").waitFor();
  await row.getByRole("link").click();
  await page.getByText("NDCG@20").first().waitFor();
  expect(await page.locator("main b, main img").count()).toBe(0);
  // Each trial of its search is a dot, and the best of them the highest.
  const search = page.getByRole("region", { name: "The search" });
  const dots = await search.locator("circle title").allTextContents();
  expect(dots.length).toBeGreaterThan(2);
  await search.getByText(`${dots.length} trials`).waitFor();
  const { jobId } = submitted;
  const { quality } = (await caller.call("getJob", { projectId, jobId })).jobData ?? {};
  const best = Math.max(...dots.map((title) => Number(title.split(": ")[1])));
  expect(best).toBeGreaterThanOrEqual(Number(quality?.ndcgAt20?.toFixed(2)));
  expect([await overhang(page), ...(await barriers(look))]).toEqual([0]);
  await picture(page, "job");
  await context.close();
});

test.each(["light", "dark"] as const)(
  "every screen is filled, fits and is accessible, %s",
  async (scheme) => {
    const look = await shop.signIn({
      colorScheme: scheme,
      reducedMotion: "reduce",
      viewport: { width: scheme === "light" ? 390 : 1600, height: 900 },
    });
    const { page, context, faults } = look;
    const found: string[] = [];
    for (const [place, heading, text] of screens) {
      await show(page, place, heading);
      await page.getByText(text).first().waitFor();
      const wider = await overhang(page);
      if (wider > 0) found.push(`${place} is ${wider} px too wide`);
      found.push(...(await broken(page)).map((word) => `${place} breaks ${word}`));
      found.push(...(await barriers(look)).map((fault) => `${place}: ${fault}`));
      await picture(page, `${place.split("/")[0]}-${scheme}`);
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test("the API is tried out by what the session may do", async () => {
  const { page, context, faults } = await shop.signIn();
  await show(page, "api", "API");
  const operation = (path: string) => page.locator("details.operation").filter({ hasText: path }).first();
  await operation("/list-models").locator("summary").first().click();
  await operation("/list-models").getByRole("button", { name: "Call it" }).click();
  await operation("/list-models").getByText('"models"').waitFor();
  // What is filled in is a call that the service takes; what it refuses, it refuses by field.
  const recommend = operation("/recommend-items-to-user");
  await recommend.locator("summary").first().click();
  await recommend.getByRole("button", { name: "Call it" }).click();
  await recommend.getByText('"results"').waitFor();
  await recommend.getByRole("textbox").fill('{"user_id": 1}');
  await recommend.getByRole("button", { name: "Call it" }).click();
  const answer = recommend.getByText("400 BAD_REQUEST");
  await answer.waitFor();
  expect(await answer.textContent()).toMatch(/\nuser_id: /);
  const submit = operation("/submit-querying-job");
  await submit.locator("summary").first().click();
  expect(JSON.parse(await submit.getByRole("textbox").inputValue())).toEqual({
    ...{ name: "example", project_id: projectId, model_id: "MODEL_ID", query_type: "user_list" },
    queries: [{ conditions: [{ attribute: "ATTRIBUTE", value: "VALUE" }] }],
  });
  await operation("/create-project").locator("summary").first().click();
  expect(await operation("/create-project").getByRole("button", { name: "Call it" }).isDisabled()).toBe(true);
  expect(faults).toEqual([expect.stringContaining("status of 400")]);
  await context.close();
});

test("a walk by keyboard alone reaches a recommendation", async () => {
  const { page, context } = await shop.signIn();
  const focused = () =>
    page.evaluate<string>("document.activeElement.textContent || document.activeElement.role || ''");
  const tabTo = async (text: string) => {
    for (let presses = 0; presses < 40 && (await focused()) !== text; presses++)
      await page.keyboard.press("Tab");
    expect(await focused()).toBe(text);
  };
  await tabTo("Try it");
  await page.keyboard.press("Enter");
  await page.getByRole("combobox", { name: "User" }).waitFor();
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate("document.activeElement.role === 'combobox'")) break;
  }
  await page.keyboard.type("ada");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator(".ranked > li").first().waitFor();
  await context.close();
});

test("the page is small, and held by a strict policy", async () => {
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
  // All screens together are below what the first load may be.
  expect(bytes).toBeLessThan(60_000);
});

test("is off where others than this machine reach the service, unless asked for", async () => {
  const open = await startService({ log: "none", publicUrl: "https://shop.example" });
  const asked = await request(`${open.url}/`);
  expect(asked.statusCode).toBe(404);
  expect(await asked.body.text()).toContain("--console");
  await open.close();
});
