import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Events from a source; the API can neither read them back nor delete them one by one. */
export const eventRecords = recordsLifecycle("EventRecords", recordKinds.events, "eventDatasetId");
