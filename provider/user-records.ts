import { recordKinds } from "../records/kind";
import { recordsLifecycle } from "./records/definition";

/** Users from a source; the API can neither read them back nor delete them one by one. */
export const userRecords = recordsLifecycle("UserRecords", recordKinds.users, "userDatasetId");
