import { z } from "zod";
import { datasetFields, routes } from "../contract";
import { id } from "../contract/field";
import { datasetArgs } from "./event-dataset";
import { lifecycle } from "./lifecycle/lifecycle";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";

/** The API can neither read an item dataset, nor change it, nor delete it. */
export const itemDataset = lifecycle({
  type: "ItemDataset",
  args: datasetArgs,
  outputs: z.object({ itemDatasetId: id }),
  isFilled: true,
  orphanType: "ITEM_DATASET",
  ...writeOnce(datasetFields, "Its records must be loaded into the new one."),

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
