import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";

test("a user whose events are deleted is unknown, even if the dataset is deleted before the next call", async () => {
  const api = await Running.start();
  // Without user records, only events distinguish users.
  const shop = await openShop(api, { ...shopRecords(), users: [] });
  await deploy(api, shop.projectId, await trainModel(api, shop));
  const idsOf = async (userId: string) => {
    const { results } = await api.call("recommendItemsToUser", { userId, limit: 1000 });
    return results.map(({ item }) => item.itemId);
  };
  expect(await idsOf("u3")).not.toEqual(await idsOf("stranger"));
  await api.call("deleteDatasetUserEvents", { eventDatasetId: shop.eventDatasetId, userId: "u3" });
  await api.call("deleteEventDataset", { eventDatasetId: shop.eventDatasetId });
  expect(await idsOf("u3")).toEqual(await idsOf("stranger"));
  await api.end();
});
