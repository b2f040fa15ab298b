import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Items that are uploaded from a source. The API cannot read them back or delete single items. */
export const itemRecords = recordsLifecycle("ItemRecords", recordKinds.items, "itemDatasetId");
