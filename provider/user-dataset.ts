import type * as pulumi from "@pulumi/pulumi";
import { routes } from "../contract";
import { declared, Resource } from "./dynamic/resource";
import { type AttributeHandling, type DatasetArgs, type DatasetState, datasetArgs } from "./event-dataset";
import { lifecycle } from "./lifecycle/lifecycle";
import type { Noun } from "./lifecycle/noun";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";

/** A dataset of users. */
export class UserDataset extends Resource {
  declare readonly userDatasetId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly numShards: pulumi.Output<number>;
  declare readonly attributeSchema: pulumi.Output<Record<string, AttributeHandling> | null>;

  constructor(name: string, args: DatasetArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "UserDataset",
      name,
      declared({ name: undefined, attributeSchema: null }, args),
      ["userDatasetId"],
      options,
    );
    // Known in a preview that changes it in place.
    this.userDatasetId = this.id;
  }

  /** @internal */
  static readonly lifecycle = lifecycle(userDataset());
}

/** The API can neither read a user dataset, nor change it, nor delete it. */
function userDataset(): Noun<DatasetState, { userDatasetId: string }> {
  return {
    type: "UserDataset",
    args: datasetArgs,
    ...writeOnce(["name", "numShards", "attributeSchema"], "Its records must be loaded into the new one."),

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
  };
}
