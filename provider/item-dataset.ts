import { z } from "zod";
import { datasetFields, routes } from "../contract";
import { id } from "../contract/field";
import { datasetArgs } from "./event-dataset";
import { lifecycle } from "./lifecycle/lifecycle";
import { readWithExtension } from "./lifecycle/observation";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";

/** The specification has no call to read, change or delete an item dataset. The service of this package can read it. */
export const itemDataset = lifecycle({
  type: "ItemDataset",
  args: datasetArgs,
  outputs: z.object({ itemDatasetId: id }),
  orphanType: "ITEM_DATASET",
  ...writeOnce(datasetFields, "Its records must be loaded into the new one."),
  ...readWithExtension({
    objectType: "item dataset",
    route: routes.getItemDataset,
    fields: datasetFields,
    get: (itemDatasetId, _args, { client }) => client.call(routes.getItemDataset, { itemDatasetId }),
  }),

  calls: () => ({ create: [routes.createItemDataset] }),

  async create({ name, numShards, attributeSchema = null }, context) {
    const { reply } = await createOnce(context, {
      route: routes.createItemDataset,
      request: { name, numShards, attributeSchema },
      idOf: ({ itemDatasetId }) => itemDatasetId,
    });
    return { id: reply.itemDatasetId, itemDatasetId: reply.itemDatasetId };
  },

  async adopt(itemDatasetId) {
    return { itemDatasetId };
  },
});
