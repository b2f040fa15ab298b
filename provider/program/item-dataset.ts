import type * as pulumi from "@pulumi/pulumi";
import { itemDataset } from "../item-dataset";
import type { AttributeHandling, DatasetArgs } from "./event-dataset";
import { Resource } from "./resource";

/**
 * A dataset of items.
 *
 * The API has no operation to read, change or delete it. The service of this package adds operations to read it, and to
 * delete it once it is orphaned. A change creates a new dataset and orphans the old one with its records; the preview
 * warns about this. Projects that use the dataset are replaced too.
 */
export class ItemDataset extends Resource {
  /** Same value as `id`, under the API's field name. */
  declare readonly itemDatasetId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly numShards: pulumi.Output<number>;
  declare readonly attributeSchema: pulumi.Output<Record<string, AttributeHandling> | null>;

  constructor(name: string, args: DatasetArgs, options?: pulumi.CustomResourceOptions) {
    super(ItemDataset.lifecycle, name, args, options);
    this.itemDatasetId = this.id;
  }

  /** @internal */
  static readonly lifecycle = itemDataset;
}
