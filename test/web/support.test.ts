import { Recommender, type RecommendOptions } from "../../web/index";
import { type Answer, reply, scriptedServer } from "../client/server";

const userPath = "/recommend-items-to-user";
const items = { results: [{ item: { item_id: "i1" } }] };
const filter = 'item.in_stock == "yes"';
/** How a service without an option answers a call that uses it. */
const rejected = reply(400, { error: { code: "BAD_REQUEST", message: "The request is invalid." } });

/** A service that lists some extensions, or has no such list, and a client for it. */
async function serviceWith(extensions: readonly string[] | undefined, call: Answer, key = "secret") {
  const answers: Record<string, Answer> = {
    "/healthz": extensions ? reply(200, { extensions }) : reply(404, "no such page"),
    "/oauth/token": reply(200, { access_token: "token", expires_in: 3600 }),
  };
  const service = await scriptedServer((request, response) =>
    (answers[request.path] ?? call)(request, response),
  );
  const client = new Recommender({ url: `${service.url}/serving/shop`, key, timeoutMs: 600_000 });
  const arrived = () => service.arrived.map(({ path }) => path).filter((path) => path !== "/oauth/token");
  return { client, arrived, close: service.close };
}

const advice = "Leave it out, or use a service that supports it.";

test.each<[string, RecommendOptions, string]>([
  ["filter", { filter }, "filter_query"],
  ["exclude", { exclude: ["i1"] }, "exclude_item_ids"],
  ["include", { include: ["i1"] }, "include_item_ids"],
  ["events", { events: [{ itemId: "i1" }] }, "events"],
])("a rejected call names the option %s, if the service does not have it", async (option, options, field) => {
  const { client, arrived, close } = await serviceWith([], rejected);
  for (let calls = 0; calls < 2; calls++)
    await expect(client.recommend("ada", options)).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: `The service does not support the option ${option} (${userPath}#${field}). ${advice}`,
      more: { status: 400 },
    });
  // The list of extensions is read once, and rejected calls are not repeated.
  expect(arrived()).toEqual([`/serving/shop${userPath}`, "/healthz", `/serving/shop${userPath}`]);
  await close();
});

test("a service without similar items is named too", async () => {
  const { client, close } = await serviceWith([`${userPath}#filter_query`], reply(404));
  await expect(client.similar(["i1"])).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: `The service does not support similar items (/recommend-items-to-item). ${advice}`,
  });
  await close();
});

test("a filter that the service ignores is an error, because the list may contain what nobody may see", async () => {
  const { client, arrived, close } = await serviceWith([], reply(200, { ...items, filter_query: null }));
  await expect(client.recommend("ada", { filter })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  expect((await client.recommend("ada")).items).toEqual([{ itemId: "i1", attributes: {} }]);
  expect(arrived()).not.toContain("/healthz");
  await close();
});

test.each([
  ["has the option", [`${userPath}#filter_query`], "secret"],
  ["does not list extensions", undefined, "secret"],
  ["has a public key", [], "rp_key"],
] as const)("the error of the service is kept if it %s", async (_, extensions, key) => {
  const { client, close } = await serviceWith(extensions, rejected, key);
  await expect(client.recommend("ada", { filter })).rejects.toMatchObject({
    code: "BAD_REQUEST",
    message: "The request is invalid.",
  });
  await close();
});

test("an invalid call shows every reason of the service", async () => {
  const details = [
    { path: "limit", message: "expected a number" },
    { path: "filter_query", message: "item.pric is unknown; did you mean item.price?" },
    { path: "", message: "fliter is unknown" },
  ];
  const error = { code: "BAD_REQUEST", message: "The request is invalid. See `details`.", details };
  const { client, close } = await serviceWith(undefined, reply(400, { error }));
  await expect(client.recommend("ada")).rejects.toMatchObject({
    message:
      "The request is invalid. limit: expected a number. filter_query: item.pric is unknown; did you mean item.price? fliter is unknown.",
    more: { details },
  });
  await close();
});

test("a call that succeeds needs no other request", async () => {
  const { client, arrived, close } = await serviceWith([], reply(200, { ...items, filter_query: filter }));
  expect((await client.recommend("ada", { filter, exclude: ["i2"] })).source).toBe("service");
  expect(arrived()).toEqual([`/serving/shop${userPath}`]);
  await close();
});
