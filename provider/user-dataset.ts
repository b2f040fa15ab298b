import { datasetFields, routes } from "../contract";
import { writeOnce } from "./lifecycle/write-once";

/** Dataset of users. */
export const userDataset = writeOnce({
  type: "UserDataset",
  objectType: "user dataset",
  orphanType: "USER_DATASET",
  fields: datasetFields,
  create: routes.createUserDataset,
  get: routes.getUserDataset,
  consequence: "Its records must be loaded into the new one.",

  async complete(given, { urn, run }) {
    run.attributeSchemas.declare("user", urn, given.attributeSchema);
    return given;
  },
});
