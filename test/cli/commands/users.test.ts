import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ShopCommand } from "../shop-command";

let shop: ShopCommand;
beforeAll(async () => {
  shop = await ShopCommand.open();
});
afterAll(() => shop.close());

test("users forget asks for confirmation, then deletes the events and the record of a user", async () => {
  const { eventDatasetId, userDatasetId } = shop.ids;
  const datasets = ["--event-dataset", eventDatasetId, "--user-dataset", userDatasetId];
  const events = [{ userId: "ann", itemId: "i1", ts: 1, eventType: "view" }];
  writeFileSync(join(shop.directory, "events.json"), JSON.stringify(events));
  writeFileSync(join(shop.directory, "users.json"), JSON.stringify([{ userId: "ann", attributes: {} }]));
  const before = await Promise.all([eventDatasetId, userDatasetId].map((id) => shop.held(id)));
  const held = async () =>
    (await Promise.all([eventDatasetId, userDatasetId].map((id) => shop.held(id)))).map(
      (count, at) => count - (before[at] as number),
    );
  await shop.json("import", "events", "events.json", "--dataset", eventDatasetId);
  await shop.json("import", "users", "users.json", "--dataset", userDatasetId);
  expect(await held()).toEqual([1, 1]);
  const unsure = await shop.run("users", "forget", "ann", ...datasets);
  expect(unsure).toMatchObject({ code: 1, out: "", err: expect.stringContaining("confirm with --yes") });
  expect(await held()).toEqual([1, 1]);
  expect(await shop.json("users", "forget", "ann", "nobody", ...datasets, "--yes")).toEqual({
    eventDatasetId,
    userDatasetId,
    forgotten: ["ann", "nobody"],
  });
  expect(await held()).toEqual([0, 0]);
  // The same import sends the records again.
  await shop.json("import", "events", "events.json", "--dataset", eventDatasetId);
  await shop.json("import", "users", "users.json", "--dataset", userDatasetId);
  expect(await held()).toEqual([1, 1]);
});

test("users forget deletes nothing if the service cannot delete records, and suggests events forget-user", async () => {
  const calls: string[] = [];
  const other = createServer(({ method, url }, reply) => {
    calls.push(`${method} ${url}`);
    const isKnown = url === "/list-event-datasets";
    const body = isKnown ? { event_datasets: [] } : {};
    reply.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const datasets = ["--event-dataset", "events", "--user-dataset", "users"];
  const credentials = { RECOMMENDER_BASE_URL: url, RECOMMENDER_TOKEN_URL: "", RECOMMENDER_ACCESS_TOKEN: "t" };
  const { code, err } = await shop.runWith(credentials, "users", "forget", "ann", ...datasets, "--yes");
  expect(code).toBe(1);
  expect(err).toContain(`The service at ${url} cannot delete user records.`);
  expect(err).toContain("Nothing was deleted. Run `recommender events forget-user`");
  expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  other.close();
});
