import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Items from a source; the API can neither read them back nor delete them one by one. */
export const itemRecords = recordsLifecycle("ItemRecords", recordKinds.items, "itemDatasetId");
