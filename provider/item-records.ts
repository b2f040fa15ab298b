import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Items from a source. The API cannot read them back or delete single records. */
export const itemRecords = recordsLifecycle("ItemRecords", recordKinds.items, "itemDatasetId");
