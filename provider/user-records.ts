import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Users that are uploaded from a source. The API cannot read them back or delete single users. */
export const userRecords = recordsLifecycle("UserRecords", recordKinds.users, "userDatasetId");
