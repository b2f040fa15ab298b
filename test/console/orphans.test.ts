import { barriers, Shop, show } from "./page";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop?.close());

test("orphans are hidden and need no attention, and a switch shows them", async () => {
  const { caller } = shop;
  const shape = { numShards: 1 };
  const { userDatasetId } = await caller.call("createUserDataset", { name: "left-users", ...shape });
  const { itemDatasetId } = await caller.call("createItemDataset", { name: "left-items", ...shape });
  const { eventDatasetId } = await caller.call("createEventDataset", { name: "kept-events", ...shape });
  const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
  const project = { name: "left-shop", targetEventType: "purchase", ...datasets };
  const { projectId } = await caller.call("createProject", project);
  for (const [objectType, objectId] of [
    ["PROJECT", projectId],
    ["USER_DATASET", userDatasetId],
    ["ITEM_DATASET", itemDatasetId],
  ] as const)
    await caller.call("markOrphaned", { objectType, objectId });

  const look = await shop.signIn();
  const { page, faults } = look;
  await page.getByRole("heading", { level: 2, name: "record-shop" }).waitFor();
  expect(await page.getByText("left-shop").count()).toBe(0);
  const toggle = page.getByLabel("Show 3 orphaned objects");
  await toggle.check();
  const card = page.getByRole("region", { name: "left-shop" });
  await card.getByText("orphaned", { exact: true }).waitFor();
  expect(await page.getByText("left-shop has no").count()).toBe(0);
  expect(await barriers(look)).toEqual([]);

  await show(page, "datasets", "Datasets");
  await page
    .getByRole("row", { name: /left-users/ })
    .getByText("orphaned", { exact: true })
    .waitFor();
  await page.getByLabel("Show 3 orphaned objects").uncheck();
  await page.getByRole("row", { name: /left-users/ }).waitFor({ state: "detached" });
  await page.getByRole("row", { name: /kept-events/ }).waitFor();
  expect(faults).toEqual([]);
});
