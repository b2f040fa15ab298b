import type { Page } from "playwright-core";
import { check, picture, Shop, show } from "./page";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop?.close());

/** Returns the texts that are visible only after scrolling sideways. */
async function outOfSight(page: Page, within: string): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(within)})]
    .filter((one) => one.getClientRects().length > 0)
    .filter((one) => { const { left, right } = one.getBoundingClientRect(); return left < 0 || right > innerWidth + 1; })
    .map((one) => one.textContent)`);
}

test("deployments show their ids and releases, and rollbacks are marked", async () => {
  const { caller, projectId } = shop;
  const [first] = (await caller.call("listModels", { projectId })).models;
  const { algorithmId } = await caller.call("createAlgorithm", {
    projectId,
    name: "autumn",
    algorithmParameters: { dimensions: 4, epochs: 2, alpha: 0.3, regularization: 0.05 },
  });
  const trained = await caller.call("submitTrainingJob", { projectId, algorithmId, name: "autumn" });
  await shop.service.idle();
  const second = (await caller.call("getJob", { projectId, jobId: trained.jobId })).jobResult?.modelId;
  const jobIds: string[] = [];
  for (const [generatorModelId, release] of [
    [second, "2"],
    [first?.modelId, "1"],
  ] as const) {
    const headers = { "recommender-origin": `shop/prod/live/prod-${release}` };
    const job = { projectId, generatorModelId: generatorModelId as string, qps: 10, name: "live" };
    jobIds.push((await caller.call("submitDeploymentJob", job, { headers })).jobId);
    await shop.service.idle();
  }
  const look = await shop.signIn({ viewport: { width: 390, height: 844 } });
  const { page, context } = look;
  await show(page, "serving", "Serving");
  const rows = page.getByRole("region", { name: "Deployments" }).locator("tbody tr");
  await rows.nth(1).waitFor();
  const [newest = "", before = ""] = await rows.allTextContents();
  expect([newest.includes(jobIds[1] as string), before.includes(jobIds[0] as string)]).toEqual([true, true]);
  expect(newest).toMatch(/live.*rollback.*release prod-1/);
  expect(before).toContain("release prod-2");
  expect(before).not.toContain("rollback");
  await page.getByText("p50", { exact: true }).waitFor();
  await page.getByText("p99", { exact: true }).waitFor();
  expect(await outOfSight(page, "main td, main td *")).toEqual([]);
  await picture(page, "narrow-serving");
  await show(page, "jobs", "Jobs");
  await page
    .getByText(jobIds[1] as string)
    .first()
    .waitFor();
  expect(await outOfSight(page, "main td, main td *")).toEqual([]);
  await picture(page, "narrow-jobs");
  await show(page, "models", "Models");
  await page
    .getByText(second as string)
    .first()
    .waitFor();
  expect(await outOfSight(page, "main td, main td *")).toEqual([]);
  await picture(page, "narrow-models");
  await check(look, "models");
  await context.close();
});

test("on a narrow page the menu shows the current screen, and What if comes before As code", async () => {
  const { page, context } = await shop.signIn({ viewport: { width: 390, height: 844 } });
  for (const [place, heading] of [
    ["api", "API"],
    ["overview", "Overview"],
    ["datasets", "Datasets"],
  ] as const) {
    await show(page, place, heading);
    await page.locator(`nav [aria-current="page"]`, { hasText: heading }).waitFor();
    await page.waitForFunction(`(() => {
      const menu = document.querySelector("nav ul").getBoundingClientRect();
      const { left, right } = document.querySelector("nav [aria-current]").getBoundingClientRect();
      return left >= menu.left - 1 && right <= menu.right + 1;
    })()`);
  }
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Datasets" }).waitFor();
  expect(await outOfSight(page, "nav [aria-current]")).toEqual([]);
  await picture(page, "narrow-datasets");
  await show(page, "try/ada", "Try it");
  await page.locator(".ranked > li").first().waitFor();
  const tops = await page.evaluate<number[]>(`["Recommended", "What if", "As code"].map((name) =>
    [...document.querySelectorAll("main section, main details")].find((one) =>
      (one.getAttribute("aria-label") ?? one.textContent).startsWith(name))?.getBoundingClientRect().top)`);
  expect(tops).toEqual([...tops].sort((a, b) => a - b));
  expect(tops).toHaveLength(3);
  await picture(page, "narrow-try");
  await context.close();
});

test("a dataset explains where to find records that were rejected before the upload", async () => {
  const { eventDatasets } = await shop.caller.call("listEventDatasets", {});
  const { page, context } = await shop.signIn();
  await show(page, `datasets/${eventDatasets[0]?.eventDatasetId}`, "record-shop");
  const rejected = page.getByRole("region", { name: "Rejected records" });
  await rejected.getByText("The service rejected no records.").waitFor();
  await rejected.getByText("in the rejects file on the machine that ran the upload").waitFor();
  await context.close();
});
