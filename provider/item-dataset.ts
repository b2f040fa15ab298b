import { datasetFields, routes } from "../contract";
import { writeOnce } from "./lifecycle/write-once";

/** Dataset of items. */
export const itemDataset = writeOnce({
  type: "ItemDataset",
  objectType: "item dataset",
  orphanType: "ITEM_DATASET",
  fields: datasetFields,
  create: routes.createItemDataset,
  get: routes.getItemDataset,
  consequence: "Its records must be loaded into the new one.",

  async complete(given, { urn, run }) {
    run.attributeSchemas.declare("item", urn, given.attributeSchema);
    return given;
  },
});
