import { recordKinds } from "../records/kind";
import { filling } from "./records/definition";

/** Users from a source; the API can neither read them back nor delete them one by one. */
export const userRecords = filling("UserRecords", recordKinds.users, "userDatasetId");
