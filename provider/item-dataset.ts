import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { datasetFields, routes } from "../contract";
import { id } from "../contract/field";
import { Resource } from "./dynamic/resource";
import { type AttributeHandling, type DatasetArgs, datasetArgs } from "./event-dataset";
import { lifecycle } from "./lifecycle/lifecycle";
import { defineNoun } from "./lifecycle/noun";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";

/** A dataset of items. */
export class ItemDataset extends Resource {
  declare readonly itemDatasetId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly numShards: pulumi.Output<number>;
  declare readonly attributeSchema: pulumi.Output<Record<string, AttributeHandling> | null>;

  constructor(name: string, args: DatasetArgs, options?: pulumi.CustomResourceOptions) {
    super(ItemDataset.lifecycle, name, args, options);
    this.itemDatasetId = this.id;
  }

  /** @internal */
  static readonly lifecycle = lifecycle(itemDataset());
}

/** The API can neither read an item dataset, nor change it, nor delete it. */
function itemDataset() {
  return defineNoun({
    type: "ItemDataset",
    args: datasetArgs,
    outputs: z.object({ itemDatasetId: id }),
    ...writeOnce(datasetFields, "Its records must be loaded into the new one."),

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
}
