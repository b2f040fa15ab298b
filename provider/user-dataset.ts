import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { datasetFields, routes } from "../contract";
import { id } from "../contract/field";
import { Resource } from "./dynamic/resource";
import { type AttributeHandling, type DatasetArgs, datasetArgs } from "./event-dataset";
import { lifecycle } from "./lifecycle/lifecycle";
import { defineNoun } from "./lifecycle/noun";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";

/** A dataset of users. */
export class UserDataset extends Resource {
  declare readonly userDatasetId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly numShards: pulumi.Output<number>;
  declare readonly attributeSchema: pulumi.Output<Record<string, AttributeHandling> | null>;

  constructor(name: string, args: DatasetArgs, options?: pulumi.CustomResourceOptions) {
    super(UserDataset.lifecycle, name, args, options);
    this.userDatasetId = this.id;
  }

  /** @internal */
  static readonly lifecycle = lifecycle(userDataset());
}

/** The API can neither read a user dataset, nor change it, nor delete it. */
function userDataset() {
  return defineNoun({
    type: "UserDataset",
    args: datasetArgs,
    outputs: z.object({ userDatasetId: id }),
    ...writeOnce(datasetFields, "Its records must be loaded into the new one."),

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
}
