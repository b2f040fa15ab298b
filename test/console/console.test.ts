import type { Caller } from "../service/running";
import { barriers, broken, check, hostile, overhang, picture, Shop, show } from "./page";
import { recordShop } from "./shop";

let shop: Shop;
let [caller, projectId] = [] as unknown as [Caller, string];
beforeAll(async () => {
  shop = await Shop.open();
  ({ caller, projectId } = shop);
});
afterAll(() => shop?.close());

/** Every screen, with a text that appears when its data is loaded. */
const screens: readonly (readonly [place: string, heading: string | RegExp, text: string | RegExp])[] = [
  ["overview", "Overview", "optimized for"],
  ["try/ada", "Try it", "Night Train Home"],
  ["jobs", "Jobs", "Deployment"],
  ["models", "Models", "Quality over time"],
  ["serving", "Serving", "Last hour"],
  ["questions", "Questions", "Earlier questions"],
  ["datasets", "Datasets", "Records"],
  ["api", "API", "/recommend-items-to-user"],
];

test("Try it shows reasons and the effect of what-if changes, and stores nothing", async () => {
  const { page, context, faults } = await shop.signIn();
  await show(page, "try", "Try it");
  await page.getByRole("combobox", { name: "User" }).fill("ad");
  await page.getByRole("option").filter({ hasText: "ada" }).click();
  const first = page.locator(".ranked > li").first();
  await first.waitFor();
  const { results } = await caller.call("recommendItemsToUser", { userId: "ada", limit: 10 });
  const shown = await page.locator(".ranked .id").allTextContents();
  expect(shown).toEqual(results.map(({ item }) => item.itemId));
  // The contributions sum to the score.
  const score = Number((await first.locator("> .num").textContent())?.trim());
  const parts = await first.locator(".why .num").allTextContents();
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.reduce((sum, part) => sum + Number(part), 0)).toBeCloseTo(score, 1);
  const own = page.getByRole("region", { name: "What if" });
  const remove = own.getByRole("button", { name: /^Remove/ }).first();
  const title = (await remove.getAttribute("aria-label"))?.replace("Remove ", "");
  await remove.click();
  await own.getByRole("button", { name: `Restore ${title}`, exact: true }).waitFor();
  await page.getByText("Undo all").waitFor();
  await page.locator(".moved").first().waitFor();
  const again = await caller.call("recommendItemsToUser", { userId: "ada", limit: 10 });
  expect(again.results).toEqual(results);
  // Enter adds the item with the typed title, but no item that does not exist.
  const had = new Set(recordShop().events.flatMap((event) => (event.userId === "ada" ? event.itemId : [])));
  const other = recordShop().items?.find(({ itemId }) => !had.has(itemId)) as {
    itemId: string;
    attributes: { title: string };
  };
  const field = own.getByRole("combobox");
  await field.fill(other.attributes.title.toUpperCase());
  await field.press("Enter");
  await own.getByText("added", { exact: true }).waitFor();
  expect(await field.inputValue()).toBe("");
  expect(await own.locator(`bdi[title="${other.itemId}"]`).count()).toBe(1);
  await field.fill("No Such Record");
  await field.press("Enter");
  await own.getByText("No such item.").waitFor();
  expect(await own.getByText("added", { exact: true }).count()).toBe(1);
  // A filter keeps only the items that match, and an invalid one is explained.
  const filter = page.getByLabel("Filter");
  await filter.fill(`item.title == "${other.attributes.title}"`);
  await filter.press("Enter");
  await page.getByText("No item matches the filter").waitFor();
  await filter.fill("item.titel");
  await filter.press("Enter");
  await page.getByText("at character 1: item.titel is unknown; did you mean item.title?").waitFor();
  await filter.fill("");
  await filter.press("Enter");
  await first.waitFor();
  const code = page.locator("details.code");
  await code.locator("summary").click();
  await code.getByRole("button", { name: "curl" }).click();
  await code.getByText("The API cannot apply what-if changes").waitFor();
  await page.setViewportSize({ width: 1024, height: 900 });
  expect([await overhang(page), await broken(page)]).toEqual([0, []]);
  await picture(page, "try-1024");
  // A user of whom only attributes are known.
  await page.getByRole("button", { name: "User without events" }).click();
  const attributes = page.getByLabel(/Attributes of a user/);
  await attributes.fill('{"country": "FR"}');
  await page.locator(".ranked > li").first().waitFor();
  await page.getByText("The service has no data about this user").waitFor();
  expect(await own.getByText("added", { exact: true }).count()).toBe(0);
  await code.locator("summary").click();
  const text = code.locator("pre");
  await text.getByText('"attributes":{"country":"FR"}').waitFor();
  expect(await text.textContent()).toContain("/upsert-dataset-users");
  await attributes.fill('{"country": ');
  await page.getByText("Not valid JSON yet").waitFor();
  expect(await text.isVisible()).toBe(true);
  // The browser reports the responses to the invalid filter.
  expect(faults.filter((fault) => !fault.includes("status of 400"))).toEqual([]);
  await context.close();
});

test("Jobs shows the progress of a training while the page is open", async () => {
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
  await caller.call("submitTrainingJob", { projectId, algorithmId, name: hostile });
  const row = page.locator("tr").filter({ hasText: "bold" });
  await row.waitFor();
  await row.getByText("succeeded").waitFor();
  await row.getByRole("link").click();
  await page.getByText("NDCG@20").first().waitFor();
  expect(await page.locator("main b, main img").count()).toBe(0);
  // Each trial of the parameter search is a dot.
  const search = page.getByRole("region", { name: "Parameter search" });
  const dots = await search.locator("circle title").allTextContents();
  expect(dots.length).toBeGreaterThan(2);
  await search.getByText(`${dots.length} trials`).waitFor();
  const best = Math.max(...dots.map((title) => Number(title.split(": ")[1])));
  expect(best).toBeGreaterThan(0);
  expect([await overhang(page), ...(await barriers(look))]).toEqual([0]);
  await picture(page, "job");
  await context.close();
});

test.each(["light", "dark"] as const)(
  "every screen shows data, fits the window and is accessible in %s mode",
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

test("the API screen calls operations that the session is allowed to use", async () => {
  const { page, context, faults } = await shop.signIn();
  await show(page, "api", "API");
  const operation = (path: string) => page.locator("details.operation").filter({ hasText: path }).first();
  await operation("/list-models").locator("summary").first().click();
  await operation("/list-models").getByRole("button", { name: "Send request" }).click();
  await operation("/list-models").getByText('"models"').waitFor();
  // The prefilled request is valid. Errors name the field.
  const recommend = operation("/recommend-items-to-user");
  await recommend.locator("summary").first().click();
  await recommend.getByRole("button", { name: "Send request" }).click();
  await recommend.getByText('"results"').waitFor();
  await recommend.getByRole("textbox").fill('{"user_id": 1}');
  await recommend.getByRole("button", { name: "Send request" }).click();
  const answer = recommend.getByText("400 BAD_REQUEST");
  await answer.waitFor();
  expect(await answer.textContent()).toMatch(/\nuser_id: /);
  const submit = operation("/submit-querying-job");
  await submit.locator("summary").first().click();
  expect(JSON.parse(await submit.getByRole("textbox").inputValue())).toEqual({
    name: "example",
    project_id: projectId,
    model_id: "MODEL_ID",
    query_type: "user_list",
    queries: [{ conditions: [{ attribute: "ATTRIBUTE", value: "VALUE" }] }],
  });
  await operation("/create-project").locator("summary").first().click();
  expect(await operation("/create-project").getByRole("button", { name: "Send request" }).isDisabled()).toBe(
    true,
  );
  expect(faults).toEqual([expect.stringContaining("status of 400")]);
  await context.close();
});

test("recommendations can be reached with the keyboard", async () => {
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

test("a dataset shows its events per day, rejected records, and the events of a user", async () => {
  const { eventDatasets } = await caller.call("listEventDatasets", {});
  const eventDatasetId = eventDatasets.find(({ name }) => name === "record-shop")?.eventDatasetId as string;
  const event = { eventId: "cut-off", userId: "ada", itemId: "lp-001", ts: 1, eventType: "purchase" };
  const { itemId: _, ...withoutItem } = event;
  const refused = [withoutItem, { ...event, eventId: "no-number", eventValue: "one" }];
  await caller.call("upsertDatasetEvents", { eventDatasetId, events: refused as never });
  const look = await shop.signIn();
  const { page, context, faults } = look;
  await show(page, `datasets/${eventDatasetId}`, "record-shop");
  const region = (name: string) => page.getByRole("region", { name });
  const { events } = recordShop();
  const perDay = region("Events per day");
  await perDay.getByText(`60 days, by type, from the newest ${events.length} events`).waitFor();
  const titles = await perDay.locator(".chart g > title").allTextContents();
  const last = new Date(Math.max(...events.map(({ ts }) => ts))).toISOString().slice(0, 10);
  expect([titles.length, titles.at(-1)]).toEqual([60, expect.stringContaining(last)]);
  await region("Rejected records").getByText("cut-off").waitFor();
  await region("Look up").getByText("Enter an id to see its attributes and newest events").waitFor();
  await page.getByLabel("Id", { exact: true }).fill("ada");
  await page.getByRole("button", { name: "Look up" }).click();
  const rows = region("Look up").locator("tbody tr");
  await rows.first().waitFor();
  const ofAda = events.filter(({ userId }) => userId === "ada").length;
  expect(await rows.count()).toBe(Math.min(50, ofAda));
  await check(look, "events");
  expect(faults).toEqual([]);
  await context.close();
});

test("Try it names what the rules of the deployment did to an item", async () => {
  const { results } = await caller.call("recommendItemsToUser", { userId: "ada", limit: 10 });
  const itemId = results.at(-1)?.item.itemId as string;
  const { generatorModelId } = await caller.call("getDeployment", { projectId });
  const deployed = { projectId, name: "with rules", generatorModelId, qps: 10 };
  const rules = { boost: [{ when: "item.year > 0", factor: 1.5 }], pin: [{ itemId, position: 1 }] };
  await caller.call("submitDeploymentJob", { ...deployed, rules });
  await shop.service.idle();
  const { page, context, faults } = await shop.signIn();
  await show(page, "try/ada", "Try it");
  const first = page.locator(".ranked > li").first();
  await first.getByText("pinned").waitFor();
  await first.getByText("boosted × 1.5").waitFor();
  expect(await first.locator(".id").textContent()).toBe(itemId);
  expect([await overhang(page), await broken(page), faults]).toEqual([0, [], []]);
  await context.close();
  await caller.call("submitDeploymentJob", deployed);
  await shop.service.idle();
});
