import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { parse } from "yaml";
import { dataDirectoryAt } from "../../service";
import { connect } from "../../service/store/database";
import { isThere } from "../../tools/sdk/generate.js";
import { testUnless } from "../unless";
import { addHostile, odd } from "./hostile-shop";
import { check, overhang, Shop, show } from "./page";
import { recordShop } from "./shop";
import { byCurl, codeOf, directory, faultsOf, inShell } from "./texts";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop?.close());

/** Programs that the screens showed, to be compiled at the end. */
const programs: Record<string, string> = {};
const pythons: string[] = [];

test("a question needs confirmation, is answered with a chart, and is available as code", async () => {
  const look = await shop.signIn();
  const { page, context, faults } = look;
  await show(page, "questions", "Questions");
  const ask = async () => {
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("It does not change datasets or models").waitFor();
    await page.getByRole("button", { name: "Start job" }).click();
  };
  await page.getByLabel("Item attribute").fill("genre");
  await page.getByRole("combobox", { name: "Value", exact: true }).fill("jazz");
  await ask();
  await page.getByRole("heading", { level: 2, name: "Usage of genre = jazz" }).waitFor();
  const drawn = await page.locator(".chart rect").count();
  expect(drawn).toBe(20);
  await check(look, "distribution");
  programs.distribution = await codeOf(page, "TypeScript");
  // The command asks the same question about the same model.
  const said = await inShell(`${await codeOf(page, "CLI")} --json`);
  const bins = JSON.parse(said).result.queries[0].bins as { users: number }[];
  const titles = await page.locator(".chart g > title").allTextContents();
  const users = titles.flatMap((title) => /: (\d+) users/.exec(title)?.[1] ?? []);
  expect(users.map(Number)).toEqual(bins.map((bin) => bin.users));

  await show(page, "questions", "Questions");
  await page.getByRole("combobox", { name: "Question", exact: true }).selectOption("list");
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
  // Conditions that the command line cannot express are passed in a file.
  await page.getByRole("combobox", { name: "Question", exact: true }).selectOption("list");
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
    expect(JSON.parse(readFileSync(join(directory, "query.json"), "utf8"))).toEqual([{ conditions }]);
  }
  // A shortened name ends with a whole character. A distribution that no command can express has no CLI sample.
  await page.getByRole("combobox", { name: "Question", exact: true }).selectOption("distribution");
  await page.getByLabel("Item attribute").fill("a=b");
  await page.getByRole("combobox", { name: "Value", exact: true }).fill(`${"x".repeat(84)}😀`);
  expect(await codeOf(page, "curl")).toContain(`"name":"Usage of a=b = ${"x".repeat(84)}",`);
  expect(await page.getByRole("button", { name: "CLI" }).count()).toBe(0);
  await page.getByRole("combobox", { name: "Question", exact: true }).selectOption("groups");
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

  // The commands that read a job and a deployment run unchanged, and only read.
  await show(page, "jobs", "Jobs");
  await page.locator("details.code").waitFor();
  expect(await inShell(await codeOf(page, "CLI"))).toContain("SUCCEED");
  await show(page, "serving", "Serving");
  const deployments = page.getByRole("region", { name: "Deployments" });
  await deployments.getByRole("cell", { name: "record-shop" }).first().waitFor();
  const links = await deployments.getByRole("link").allTextContents();
  expect(links.filter((text) => text.startsWith("model-"))).toEqual([]);
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

test("two models are compared by metrics, parameters and recommendations for the same users", async () => {
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
  await page.getByText("on the same held-out set").waitFor();
  await page.getByRole("combobox", { name: "Add a user" }).fill("ada");
  await page.keyboard.press("Enter");
  expect(await page.getByRole("combobox", { name: "Add a user" }).inputValue()).toBe("");
  const ada = page.locator(".comparison").filter({ hasText: "ada" });
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
  const figures = page.getByRole("region", { name: "Recommended items" });
  expect(await figures.count()).toBe(1);
  // Trainings by older versions did not measure the recommended items.
  const db = connect(dataDirectoryAt(shop.service.dataDir).database, { writes: true });
  await sql`update jobs set data = json_remove(data, '$.quality.coverageAt20') where name = 'narrow'`.execute(
    db,
  );
  await db.destroy();
  await show(page, `models/${two}`, "narrow");
  await page.getByRole("region", { name: "Quality" }).waitFor();
  expect(await figures.count()).toBe(0);
  // An item without a label is shown by its id, even if that is the name of an object method.
  const odd = [{ isKnown: true, itemIds: ["toString"] }];
  await page.route("**/console/api/compare*", (route) =>
    route.fulfill({ json: { users: ["ada"], models: [odd, odd], labels: {} } }),
  );
  await show(page, `models/${one}/${two}`, "Two models");
  await page.locator(".comparison li").getByText("toString", { exact: true }).first().waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test("hostile names are harmless on every screen and in every code sample", async () => {
  const { caller } = shop;
  const { projectId, userDatasetId, itemDatasetId, eventDatasetId } = await addHostile(shop);
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
      expect(programs[id]).toMatch(/^\/\/ Left out: 2 more algorithms of "<b>bold.*"\.$/m);
      // New objects appear without a reload.
      await caller.call("createAlgorithm", { projectId, name: "another" });
      await page.locator("details.code").getByText("Left out: 3 more algorithms").waitFor();
    }
    pythons.push(await codeOf(page, "Python"));
    const yaml = parse(await codeOf(page, "YAML"));
    if (place !== "datasets") continue;
    const { arguments: given } = yaml.variables.datasets["fn::invoke"];
    expect([given, await page.locator("main .scroll").count()]).toEqual([{}, 0]);
  }
  // A project without a deployment.
  await page.locator(".project select").selectOption(projectId);
  await show(page, "serving", "Serving");
  await page.getByText("No live deployment").waitFor();
  await show(page, "try", "Try it");
  await page.getByText("The project is not deployed").waitFor();
  await page.locator(".project select").selectOption(shop.projectId);
  // The records page by page, a search, and rejected records.
  await show(page, `datasets/${userDatasetId}`, /^<b>bold/);
  const records = page.getByRole("region", { name: "All records" });
  const rows = records.locator("tbody tr");
  await records.getByText("50 records shown").waitFor();
  expect([await rows.count(), await rows.first().locator(".id").textContent()]).toEqual([50, odd]);
  await records.getByRole("button", { name: "Show more" }).click();
  await records.getByText("100 records shown").waitFor();
  await records.getByRole("searchbox").fill("u11");
  await records.getByText("11 records shown").waitFor();
  // A click on an id moves the focus to the lookup, which shows the record, also for the id that it already shows.
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
    expect(await field.inputValue()).toBe(id);
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Id");
    const { y = -1 } = (await field.boundingBox()) ?? {};
    expect(y > 0 && y < 800).toBe(true);
  }
  const rejected = page.getByRole("region", { name: "Rejected records" });
  await rejected.locator("tbody tr").first().waitFor();
  expect(await rejected.locator("tbody tr").count()).toBe(20);
  await rejected.getByText("and 1 more reason", { exact: true }).waitFor();
  await rejected.getByText("takes more than").waitFor();
  // Rounding this mean to four digits would overflow.
  await page.getByText("mean 1.79769313486231").waitFor();
  await check(look, "dataset");
  await page.setViewportSize({ width: 390, height: 800 });

  await show(page, `datasets/${eventDatasetId}`, /^<b>bold/);
  await page.getByLabel("Id", { exact: true }).fill(odd);
  await page.getByRole("button", { name: "Look up" }).click();
  await page.locator(".name").filter({ hasText: "--it's" }).waitFor();
  await lookUp.getByText(`${Number.MAX_SAFE_INTEGER} ms`).waitFor();
  expect([await overhang(page), await page.locator("main b, main img").count()]).toEqual([0, 0]);

  // Code in every language refers to the same user, even with this id.
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
  "the Python samples of the screens compile",
  async () => {
    expect(pythons.length).toBeGreaterThan(5);
    writeFileSync(join(directory, "texts.json"), JSON.stringify(pythons));
    const compiling = "import json; [compile(one, 'text', 'exec') for one in json.load(open('texts.json'))]";
    await promisify(execFile)("python3", ["-c", compiling], { cwd: directory });
  },
);

test("the TypeScript samples of the screens compile", () => {
  expect(Object.keys(programs).length).toBeGreaterThan(5);
  expect(faultsOf(programs)).toEqual([]);
});
