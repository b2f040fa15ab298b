import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Events from a source. The API cannot read them back or delete single records. */
export const eventRecords = recordsLifecycle("EventRecords", recordKinds.events, "eventDatasetId");
