import { lookUp } from "../../provider/lookups";
import { clientOf, reply, scriptedServer } from "../client/server";

const items = reply(200, { results: [{ item: { item_id: "i1" } }] });

test("a recommendation that is not sent to its serving address warns that the items may be of another project", async () => {
  const service = await scriptedServer(items);
  const { client } = clientOf(service);
  const warn = jest.fn();
  const args = { userId: "ada", servingUri: "https://serving.example.com/p1" };
  expect(await lookUp(client, "recommend", args, warn)).toMatchObject({
    results: [{ item: { itemId: "i1" } }],
  });
  expect(warn.mock.calls).toEqual([
    [
      "recommend: The call was not sent to https://serving.example.com, because the credentials belong to another " +
        `address. It was sent to ${service.url} without a project. The items may be those of another project.`,
    ],
  ]);
  await Promise.all([client.close(), service.close()]);
});

test("a recommendation at its serving address, or without one, warns of nothing", async () => {
  const service = await scriptedServer(items);
  const { client } = clientOf(service);
  const warn = jest.fn();
  await lookUp(client, "recommend", { userId: "ada", servingUri: `${service.url}/serving/p1` }, warn);
  await lookUp(client, "recommend", { userId: "ada" }, warn);
  expect(service.arrived.map(({ path }) => path)).toEqual([
    "/serving/p1/recommend-items-to-user",
    "/recommend-items-to-user",
  ]);
  expect(warn).not.toHaveBeenCalled();
  await Promise.all([client.close(), service.close()]);
});
