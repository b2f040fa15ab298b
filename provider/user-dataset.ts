import { z } from "zod";
import { datasetFields, routes } from "../contract";
import { id } from "../contract/field";
import { datasetArgs } from "./event-dataset";
import { lifecycle } from "./lifecycle/lifecycle";
import { readWithExtension } from "./lifecycle/observation";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";

/** The specification has no call to read, change or delete a user dataset. The service of this package can read it. */
export const userDataset = lifecycle({
  type: "UserDataset",
  args: datasetArgs,
  outputs: z.object({ userDatasetId: id }),
  orphanType: "USER_DATASET",
  ...writeOnce(datasetFields, "Its records must be loaded into the new one."),
  ...readWithExtension({
    objectType: "user dataset",
    route: routes.getUserDataset,
    fields: datasetFields,
    get: (userDatasetId, _args, { client }) => client.call(routes.getUserDataset, { userDatasetId }),
  }),

  calls: () => ({ create: [routes.createUserDataset] }),

  async create({ name, numShards, attributeSchema = null }, context) {
    const { reply } = await createOnce(context, {
      route: routes.createUserDataset,
      request: { name, numShards, attributeSchema },
      idOf: ({ userDatasetId }) => userDatasetId,
    });
    return { id: reply.userDatasetId, userDatasetId: reply.userDatasetId };
  },

  async adopt(userDatasetId) {
    return { userDatasetId };
  },
});
