import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import type { Page } from "playwright-core";
import ts from "typescript";
import { parse } from "yaml";
import { folderAt, withClients } from "../../service";
import { connect } from "../../service/store/database";
import { isThere } from "../../tools/sdk/generate.js";
import { command } from "../service/process";
import { testUnless } from "../tools/sdk";
import { barriers, broken, hostile, overhang, picture, Shop, show } from "./page";
import { recordShop } from "./shop";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop?.close());

/** The text that a screen gives in a language. */
async function codeOf(page: Page, language: string): Promise<string> {
  const code = page.locator("details.code").last();
  if ((await code.getAttribute("open")) === null) await code.locator("summary").click();
  await code.getByRole("button", { name: language, exact: true }).click();
  return (await code.locator("pre").textContent()) ?? "";
}

/** What a shell prints for a text, which names the command as users have it. */
async function inShell(text: string): Promise<string> {
  const whole = `recommender() { '${process.execPath}' '${command}' "$@"; }\n${text}`;
  return (await promisify(execFile)("bash", ["-c", whole], { cwd: folder })).stdout;
}

/** What curl gets, with the key from where the screen says that it lies. */
async function byCurl(page: Page): Promise<Record<string, unknown>> {
  const text = await codeOf(page, "curl");
  const key = await page.locator("details.code").last().locator("p code").textContent();
  return JSON.parse(await inShell(`${key}\n${text}`)) as Record<string, unknown>;
}

const folder = mkdtempSync(join(__dirname, "texts-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the compiler says of programs. */
function faultsOf(programs: Readonly<Record<string, string>>): string[] {
  const root = join(__dirname, "../..");
  const files = Object.entries(programs).map(([name, text]) => {
    const file = join(folder, `${name}.ts`);
    writeFileSync(file, text);
    return file;
  });
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    paths: { "pulumi-recommender": [join(root, "dist/provider/index.d.ts")] },
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

const programs: Record<string, string> = {};
const pythons: string[] = [];

/** Looks at a page as it is at other widths too. */
async function check(look: Awaited<ReturnType<Shop["signIn"]>>, name: string): Promise<void> {
  const { page } = look;
  for (const width of [390, 1024, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    expect([name, width, await overhang(page)]).toEqual([name, width, 0]);
    expect([name, width, await broken(page)]).toEqual([name, width, []]);
    await picture(page, `${name}-${width}`);
  }
  expect([name, ...(await barriers(look))]).toEqual([name]);
}

test("a question asks before it is submitted, is answered by a chart, and can be had as text", async () => {
  const look = await shop.signIn();
  const { page, context, faults } = look;
  await show(page, "questions", "Questions");
  const ask = async () => {
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("No dataset and no model changes").waitFor();
    await page.getByRole("button", { name: "Start the job" }).click();
  };
  await page.getByLabel("Item attribute").fill("genre");
  await page.getByRole("combobox", { name: "Value", exact: true }).fill("jazz");
  await ask();
  await page.getByRole("heading", { level: 2, name: "Usage of genre = jazz" }).waitFor();
  const drawn = await page.locator(".chart rect").count();
  expect(drawn).toBe(20);
  await check(look, "distribution");
  programs.distribution = await codeOf(page, "TypeScript");
  // The command asks the same, of the same model.
  const said = await inShell(`${await codeOf(page, "CLI")} --json`);
  const bins = JSON.parse(said).result.queries[0].bins as { users: number }[];
  const titles = await page.locator(".chart g > title").allTextContents();
  const users = titles.flatMap((title) => /: (\d+) users/.exec(title)?.[1] ?? []);
  expect(users.map(Number)).toEqual(bins.map((bin) => bin.users));

  await show(page, "questions", "Questions");
  await page.getByLabel("Question").selectOption("list");
  await page.getByLabel("Item attribute").fill("genre");
  await page.getByRole("combobox", { name: "Value", exact: true }).fill("jazz");
  await ask();
  await page.getByRole("heading", { name: /^\d+ users?$/ }).waitFor();
  await check(look, "list");
  programs.list = await codeOf(page, "TypeScript");
  const shownUsers = await page.locator(".chips .id").allTextContents();
  const listed = JSON.parse(await inShell(`${await codeOf(page, "CLI")} --json`));
  expect(shownUsers.slice(0, 100)).toEqual(listed.result.queries[0].user_ids.slice(0, 100));

  await show(page, "questions", "Questions");
  // What a condition of the command cannot say is asked by a file.
  await page.getByLabel("Question").selectOption("list");
  for (const [attribute, value, least] of [
    ["a=b", "c\u0015", "0.5"],
    ["a", "c:1..", ""],
    ["a", "c", "1e-7"],
  ] as const) {
    await page.getByLabel("Item attribute").fill(attribute);
    await page.getByRole("combobox", { name: "Value", exact: true }).fill(value);
    await page.getByLabel("Minimum share of usage").fill(least);
    const [written = "", asking] = (await codeOf(page, "CLI")).split("\n");
    expect(asking).toMatch(/^recommender query --service=\S+ --project=\S+ --model=\S+ --file=query\.json$/);
    await inShell(written);
    const bound = least === "" ? {} : { lowerBound: Number(least) };
    const conditions = [{ attribute, value, ...bound }];
    expect(JSON.parse(readFileSync(join(folder, "query.json"), "utf8"))).toEqual([{ conditions }]);
  }
  await page.getByLabel("Question").selectOption("groups");
  await page.getByLabel("Minimum users in a group").fill("2");
  await ask();
  await page.locator(".groups .markers").first().waitFor();
  await check(look, "groups");
  programs.groups = await codeOf(page, "TypeScript");
  const { groupsOfUsers } = parse(await codeOf(page, "YAML")).resources;
  expect(groupsOfUsers.properties.parameters).toEqual({ minUserNum: 2 });
  const asked = ["Groups of users", "Who uses genre = jazz", "Usage of genre = jazz"];
  await show(page, "questions", "Questions");
  await page.locator("tbody tr").first().waitFor();
  expect(await page.locator("tbody .name").allTextContents()).toEqual(expect.arrayContaining(asked));

  // What reads a job and what serves runs as it stands, and does no more than read.
  await show(page, "jobs", "Jobs");
  await page.locator("details.code").waitFor();
  expect(await inShell(await codeOf(page, "CLI"))).toContain("SUCCEED");
  await show(page, "serving", "Serving");
  const deployments = page.getByRole("region", { name: "Deployments" });
  await deployments.getByRole("cell", { name: "record-shop" }).first().waitFor();
  expect(await deployments.textContent()).not.toContain("model-");
  const shutdown = await codeOf(page, "CLI");
  expect(shutdown).toMatch(
    /^recommender jobs get .*\n\n# This takes the project out of service:\n# recommender shutdown /,
  );
  expect(await inShell(shutdown)).toContain("SUCCEED");
  expect(await byCurl(page)).toMatchObject({ job_status: "SUCCEED" });
  await show(page, "datasets", "Datasets");
  await page.locator("details.code").waitFor();
  expect(await inShell(await codeOf(page, "CLI"))).toContain("record-shop");
  expect(faults).toEqual([]);
  await context.close();
});

test("two models are compared by figures, parameters, and what they recommend to the same users", async () => {
  const { caller, projectId } = shop;
  const trained = async (name: string, algorithmParameters: Record<string, number>) => {
    const { algorithmId } = await caller.call("createAlgorithm", { projectId, name, algorithmParameters });
    const headers = { "recommender-origin": `shop/dev/${name}/prod-7` };
    const { jobId } = await caller.call("submitTrainingJob", { projectId, algorithmId, name }, { headers });
    await shop.service.idle();
    return (await caller.call("getJob", { projectId, jobId })).jobResult?.modelId as string;
  };
  const [one, two] = [
    await trained("wide", { dimensions: 16, epochs: 6 }),
    await trained("narrow", { dimensions: 2, epochs: 1 }),
  ];
  const look = await shop.signIn();
  const { page, context, faults } = look;
  await show(page, `models/${one}/${two}`, "Two models");
  await page.getByText("on the same hold-out").waitFor();
  await page.getByRole("combobox", { name: "Another user" }).fill("ada");
  await page.keyboard.press("Enter");
  const ada = page.locator(".beside").filter({ hasText: "ada" });
  await ada.locator("li").first().waitFor();
  const had = recordShop().events.filter(({ userId }) => userId === "ada");
  const lists = await Promise.all(
    (await ada.locator("ol").all()).map(async (list) =>
      Promise.all((await list.locator("li").all()).map(async (row) => await row.getAttribute("title"))),
    ),
  );
  expect(lists.map(({ length }) => length)).toEqual([10, 10]);
  expect(lists[0]).not.toEqual(lists[1]);
  for (const { itemId } of had) for (const list of lists) expect(list).not.toContain(itemId);
  const marked = await ada.locator(".tag").count();
  expect(marked).toBe(2 * lists[0]?.filter((id) => !lists[1]?.includes(id)).length);
  await check(look, "compared");
  programs.compared = await codeOf(page, "TypeScript");
  expect(await codeOf(page, "CLI")).toContain("--stack=dev ");
  await page.getByRole("cell", { name: "shop/dev" }).first().waitFor();
  await show(page, `models/${one}`, "wide");
  await page.getByText("resource wide, release prod-7").waitFor();
  await check(look, "model");
  const figures = page.getByRole("region", { name: "What it shows" });
  expect(await figures.count()).toBe(1);
  // A training by an older version did not measure what its model shows.
  const db = connect(folderAt(shop.service.dataDir).database, { writes: true });
  await sql`update jobs set data = json_remove(data, '$.quality.coverageAt20') where name = 'narrow'`.execute(
    db,
  );
  await db.destroy();
  await show(page, `models/${two}`, "narrow");
  await page.getByRole("region", { name: "Quality" }).waitFor();
  expect(await figures.count()).toBe(0);
  // An item that has no label is shown by its id, whatever that is.
  const odd = [{ isKnown: true, itemIds: ["toString"] }];
  await page.route("**/console/api/beside*", (route) =>
    route.fulfill({ json: { users: ["ada"], models: [odd, odd], labels: {} } }),
  );
  await show(page, `models/${one}/${two}`, "Two models");
  await page.locator(".beside li").getByText("toString", { exact: true }).first().waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("a dataset shows its events by day, its long tail, what was refused, and the events of a user", async () => {
  const { caller } = shop;
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
  await perDay.getByText(`60 days, of the newest ${events.length} events`).waitFor();
  const titles = await perDay.locator(".chart g > title").allTextContents();
  const last = new Date(Math.max(...events.map(({ ts }) => ts))).toISOString().slice(0, 10);
  expect([titles.length, titles.at(-1)]).toEqual([60, expect.stringContaining(last)]);
  await region("Refused records").getByText("cut-off").waitFor();
  await region("Look up").getByText("Attributes and newest events appear here").waitFor();
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

test("a session is told what it may not do or see, and a screen that fails says so", async () => {
  const { dataDir } = shop.service;
  const { secret } = await withClients({ dataDir }, (all) =>
    all.add("looker", ["/status", "/get-event-dataset"]),
  );
  const { page, context } = await shop.signIn({}, {}, secret);
  await show(page, "try/ada", "Try it");
  await page.getByText("The client looker does not have the scope /recommend-items-to-user").waitFor();
  await page.route("**/console/api/overview*", (route) => route.fulfill({ json: {} }));
  await page.evaluate("location.hash = '#/toString'");
  await page.getByRole("alert").getByText("This cannot be shown").waitFor();
  await page.unroute("**/console/api/overview*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await show(page, "questions", "Questions");
  await page.getByText("This session may not ask").waitFor();
  expect(await page.getByRole("button", { name: "Ask", exact: true }).isDisabled()).toBe(true);
  const status = await page.evaluate(
    `fetch("submit-clustering-job", { method: "POST", body: "{}", headers: { "content-type": "application/json",
      "x-console-token": sessionStorage.getItem("recommender-console-token") } }).then((answer) => answer.status)`,
  );
  expect(status).toBe(403);
  await context.close();
});

test("hostile names are harmless on every screen, and in every text", async () => {
  const { caller } = shop;
  const name = hostile.slice(0, 256);
  const odd = `--it's "$(id)" \`x\` \${y} \\ \u202E<b>\u2028`;
  const { userDatasetId } = await caller.call("createUserDataset", { name, numShards: 1 });
  const { itemDatasetId } = await caller.call("createItemDataset", { name, numShards: 1 });
  const { eventDatasetId } = await caller.call("createEventDataset", { name, numShards: 1 });
  await caller.call("upsertDatasetUsers", {
    userDatasetId,
    users: [{ userId: odd, attributes: { [name]: name, long: "y".repeat(10_000) } }],
  });
  await caller.call("upsertDatasetItems", {
    itemDatasetId,
    items: [{ itemId: name, attributes: { title: "z".repeat(10_000) } }],
  });
  const more = Array.from({ length: 120 }, (_, at) => ({ userId: `u${at}`, attributes: { city: "Oslo" } }));
  await caller.call("upsertDatasetUsers", {
    userDatasetId,
    users: [...more, { userId: name, attributes: { long: "y".repeat(100_000) } }, { [odd]: 1 } as never],
  });
  await caller.raw("/upsert-dataset-users", {
    method: "POST",
    headers: { ...(await caller.headers("/upsert-dataset-users")), "content-type": "application/json" },
    body: JSON.stringify({
      user_dataset_id: userDatasetId,
      users: Array.from({ length: 10 }, (_, at) => ({ user_id: `u${at}`, [`field${at}`]: at })),
    }),
  });
  const event = { eventId: "e", userId: odd, itemId: name, ts: 1, eventType: name };
  await caller.call("upsertDatasetEvents", { eventDatasetId, events: [event, { ...event, eventId: "far" }] });
  // An earlier version took times that are no date.
  const db = connect(folderAt(shop.service.dataDir).database, { writes: true });
  await sql`update events set ts = ${Number.MAX_SAFE_INTEGER} where event_id = 'far'`.execute(db);
  await db.destroy();
  const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
  const odds = await caller.call("createProject", { name, ...datasets, targetEventType: name });
  await caller.call("createAlgorithm", { projectId: odds.projectId, name, algorithmParameters: {} });
  await caller.call("createAlgorithm", {
    projectId: odds.projectId,
    name,
    algorithmParameters: { alpha: 2 },
  });
  for (let at = 0; at < 20; at++)
    await caller.call("createAlgorithm", { projectId: odds.projectId, name: "a", algorithmParameters: {} });
  const look = await shop.signIn({ viewport: { width: 390, height: 800 } });
  const { page, context, faults } = look;
  const places = [
    ["overview", "Overview"],
    ["datasets", "Datasets"],
    ...[userDatasetId, itemDatasetId, eventDatasetId].map((id) => [`datasets/${id}`, /^<b>bold/]),
    [`try/${encodeURIComponent(odd)}`, "Try it"],
    ["questions", "Questions"],
  ] as const;
  for (const [place, heading] of places) {
    await show(page, place as string, heading as string);
    await page.locator("details.code").last().waitFor();
    expect([place, await overhang(page)]).toEqual([place, 0]);
    expect(await page.locator("main b, main img").count()).toBe(0);
    const id = (place as string).replace(/\W/g, "").slice(0, 20);
    programs[id] = await codeOf(page, "TypeScript");
    if (place === "overview") {
      expect(programs[id]?.match(/new recommender\.Algorithm\(/g)?.length).toBeGreaterThan(2);
      expect(programs[id]).toMatch(/^\/\/ Left out: 2 further algorithms of "<b>bold.*"\.$/m);
    }
    pythons.push(await codeOf(page, "Python"));
    const yaml = parse(await codeOf(page, "YAML"));
    if (place === "datasets") expect(yaml.variables.datasets["fn::invoke"].arguments).toEqual({});
  }
  // A project that does not serve.
  await page.locator(".project select").selectOption(odds.projectId);
  await show(page, "serving", "Serving");
  await page.getByText("Nothing serves").waitFor();
  await show(page, "try", "Try it");
  await page.getByText("The project does not serve").waitFor();
  await page.locator(".project select").selectOption(shop.projectId);
  // Its records page by page, what is found among them, and what was refused.
  await show(page, `datasets/${userDatasetId}`, /^<b>bold/);
  const records = page.getByRole("region", { name: "All records" });
  const rows = records.locator("tbody tr");
  await records.getByText("50 records shown").waitFor();
  expect([await rows.count(), await rows.first().locator(".id").textContent()]).toEqual([50, odd]);
  await records.getByRole("button", { name: "Show more" }).click();
  await records.getByText("100 records shown").waitFor();
  await records.getByRole("searchbox").fill("u11");
  await records.getByText("11 records shown").waitFor();
  // A click leads to the look-up, which shows it; also where it was shown already, and after a look elsewhere.
  const [lookUp, field] = [
    page.getByRole("region", { name: "Look up" }),
    page.getByLabel("Id", { exact: true }),
  ];
  for (const id of ["u117", "u117", "u118"]) {
    const link = records.getByRole("link", { name: id });
    await link.scrollIntoViewIfNeeded();
    await link.click();
    await lookUp.locator(".name").filter({ hasText: id }).waitFor();
    await lookUp.getByText("city Oslo").waitFor();
    expect([await field.inputValue(), await page.evaluate("document.activeElement.ariaLabel")]).toEqual([
      ...[id, "Id"],
    ]);
    const { y = -1 } = (await field.boundingBox()) ?? {};
    expect(y > 0 && y < 800).toBe(true);
  }
  const refused = page.getByRole("region", { name: "Refused records" });
  await refused.locator("tbody tr").first().waitFor();
  expect(await refused.locator("tbody tr").count()).toBe(10);
  await refused.getByRole("button", { name: "Show all 12 reasons" }).click();
  expect(await refused.locator("tbody tr").count()).toBe(12);
  await refused.getByText("takes more than").waitFor();
  await check(look, "dataset");
  await page.setViewportSize({ width: 390, height: 800 });

  await show(page, `datasets/${eventDatasetId}`, /^<b>bold/);
  await page.getByLabel("Id", { exact: true }).fill(odd);
  await page.getByRole("button", { name: "Look up" }).click();
  await page.locator(".name").filter({ hasText: "--it's" }).waitFor();
  await lookUp.getByText(`${Number.MAX_SAFE_INTEGER} ms`).waitFor();
  expect([await overhang(page), await page.locator("main b, main img").count()]).toEqual([0, 0]);

  // A user of the shop that serves has that id: whatever the language, it means the same.
  const asked = { userId: odd, limit: 10 };
  const { results } = await caller.call("recommendItemsToUser", asked);
  const ids = results.map(({ item }) => item.itemId);
  await show(page, `try/${encodeURIComponent(odd)}`, "Try it");
  await page.locator(".ranked").waitFor();
  const got = (await byCurl(page)) as { user_id: string; results: { item: { item_id: string } }[] };
  expect(got.user_id).toBe(odd);
  expect(got.results.map(({ item }) => item.item_id)).toEqual(ids);
  const cli = (await codeOf(page, "CLI")).replace(
    "--stack=dev",
    `--service=embedded:${shop.service.dataDir} --json`,
  );
  const said = JSON.parse(await inShell(cli));
  expect(JSON.stringify(said)).toContain(JSON.stringify(odd));
  const { forUser } = parse(await codeOf(page, "YAML")).variables;
  // Pulumi reads two dollar signs as one: test/engine/languages.test.ts has it do so.
  expect(forUser["fn::invoke"].arguments.userId).toBe(odd.replaceAll("$", () => "$$"));
  expect(faults).toEqual([]);
  await context.close();
});

testUnless(isThere("python3") ? undefined : "there is no `python3` on PATH")(
  "the programs that screens give in Python are Python",
  async () => {
    expect(pythons.length).toBeGreaterThan(5);
    writeFileSync(join(folder, "texts.json"), JSON.stringify(pythons));
    const compiling = "import json; [compile(one, 'text', 'exec') for one in json.load(open('texts.json'))]";
    await promisify(execFile)("python3", ["-c", compiling], { cwd: folder });
  },
);

test("the programs that screens give pass the compiler", () => {
  expect(Object.keys(programs).length).toBeGreaterThan(5);
  expect(faultsOf(programs)).toEqual([]);
});
