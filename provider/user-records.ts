import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Users from a source. The API cannot read them back or delete single records. */
export const userRecords = recordsLifecycle("UserRecords", recordKinds.users, "userDatasetId");
