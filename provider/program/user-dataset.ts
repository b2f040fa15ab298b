import type * as pulumi from "@pulumi/pulumi";
import { userDataset } from "../user-dataset";
import type { AttributeHandling, DatasetArgs } from "./event-dataset";
import { Resource } from "./resource";

/**
 * A dataset of users.
 *
 * The API can neither read, change nor delete it; the service of this package reads it. A change creates another one and orphans the old one with its records;
 * the preview says so. A dataset that is replaced also replaces the projects over it.
 */
export class UserDataset extends Resource {
  /** The id, under the name that the API gives it. */
  declare readonly userDatasetId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly numShards: pulumi.Output<number>;
  declare readonly attributeSchema: pulumi.Output<Record<string, AttributeHandling> | null>;

  constructor(name: string, args: DatasetArgs, options?: pulumi.CustomResourceOptions) {
    super(UserDataset.lifecycle, name, args, options);
    this.userDatasetId = this.id;
  }

  /** @internal */
  static readonly lifecycle = userDataset;
}
