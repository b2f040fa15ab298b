import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Events that are uploaded from a source. The API cannot read them back or delete single events. */
export const eventRecords = recordsLifecycle("EventRecords", recordKinds.events, "eventDatasetId");
