import { recommendItems, similarItems } from "../../client/serving";
import { lookUp } from "../../provider/lookups";
import { clientOf, reply, scriptedServer } from "./server";

/** A service that lists some extensions, and answers calls without results. */
async function serviceWith(...extensions: string[]) {
  const service = await scriptedServer((request, response) =>
    reply(200, request.path === "/healthz" ? { extensions } : { results: [] })(request, response),
  );
  const { client } = clientOf(service);
  const calls = () =>
    service.arrived.filter(({ path }) => path.startsWith("/recommend")).map(({ body }) => body);
  return { client, calls, close: () => Promise.all([client.close(), service.close()]) };
}

describe("a field that extends the specification", () => {
  test("is not sent to a service that does not list it", async () => {
    const { client, calls, close } = await serviceWith("/recommend-items-to-user#filter_query");
    const asked = { userId: "u1", filterQuery: "true", excludeItemIds: ["i1"], events: [{ itemId: "i2" }] };
    const message =
      /does not support exclude_item_ids, events in \/recommend-items-to-user, which are not part of the spec/;
    await expect(recommendItems(client, asked)).rejects.toThrow(message);
    await expect(lookUp(client, "recommend", asked, () => undefined)).rejects.toThrow(message);
    await expect(similarItems(client, { itemIds: ["i1"] })).rejects.toThrow(
      /does not support \/recommend-items-to-item/,
    );
    expect(calls()).toEqual([]);
    await close();
  });

  test("is sent to a service that lists it", async () => {
    const { client, calls, close } = await serviceWith("/recommend-items-to-user#filter_query");
    await recommendItems(client, { userId: "u1", filterQuery: "item.price < 20" });
    expect(calls()).toEqual([expect.objectContaining({ filter_query: "item.price < 20" })]);
    await close();
  });

  test("needs no support if it has no value", async () => {
    const { client, calls, close } = await serviceWith();
    await recommendItems(client, { userId: "u1", filterQuery: null });
    expect(calls()).toHaveLength(1);
    await close();
  });
});
