import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ShopCommand } from "../shop-command";

/** Replies that are about another user, time or name than the commands below. All other replies are `{}`. */
const replies: Readonly<Record<string, object>> = {
  "/delete-dataset-user-events": { event_dataset_id: "events", user_id: "bob" },
  "/delete-dataset-events-before-ts": { event_dataset_id: "events", ts: 5 },
  "/update-model": { project_id: "p1", model_id: "m1", name: "old" },
  "/get-model": { project_id: "p1", model_id: "m1", name: "old" },
  "/recommend-items-to-user": { user_id: "bob", results: [{ item: { item_id: "bobs-secret" } }] },
};

let shop: ShopCommand;
let gateway: Server;
let credentials: Record<string, string>;
beforeAll(async () => {
  shop = await ShopCommand.open();
  gateway = createServer(({ url = "" }, response) => {
    const body = replies[url.split("?")[0] as string] ?? {};
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  credentials = { RECOMMENDER_BASE_URL: url, RECOMMENDER_TOKEN_URL: "", RECOMMENDER_ACCESS_TOKEN: "t" };
});
afterAll(async () => {
  gateway.close();
  await shop.close();
});

test.each<[string, RegExp, string[]]>([
  [
    "events forget-user",
    /the response is about another user_id than the request/,
    ["events", "forget-user", "ada", "--dataset", "events", "--yes"],
  ],
  [
    "events prune",
    /the response is about ts 5, not \d+/,
    ["events", "prune", "--dataset", "events", "--before", "2026-01-31", "--yes"],
  ],
  [
    "models rename",
    /did not apply it: name still has a different value|the response is about name old, not new/,
    ["models", "rename", "m1", "new", "--project", "p1"],
  ],
  ["recommend", /the response is about another user_id than the request/, ["recommend", "ada"]],
])("%s reports no success if the reply is about something else", async (_, message, args) => {
  const { code, out, err } = await shop.runWith(credentials, ...args);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(message);
  expect(err).not.toContain("bob");
});
