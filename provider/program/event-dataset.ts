import type * as pulumi from "@pulumi/pulumi";
import { eventDataset } from "../event-dataset";
import { Resource } from "./resource";

/** How an attribute is handled. */
export type AttributeHandling = "NUMERICAL" | "CATEGORICAL";

/** Arguments of a dataset. */
export interface DatasetArgs {
  /** Name of the dataset. Default: the logical name. */
  readonly name?: pulumi.Input<string>;
  /** Number of shards. Each holds up to 100,000 records. A change replaces the dataset. */
  readonly numShards: pulumi.Input<number>;
  /** How each attribute is handled. Default: null, so the service infers it. */
  readonly attributeSchema?: pulumi.Input<Record<string, pulumi.Input<AttributeHandling>> | null>;
  /** Id of an existing dataset to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A dataset of events: what users did with items. Several projects can share it.
 *
 * A replacement deletes the events of the old dataset, unless you set the option `retainOnDelete`. The option `protect`
 * prevents a replacement. With `existingId`, the dataset must exist and have the declared number of shards. Its name
 * and schema are changed to the declared values.
 */
export class EventDataset extends Resource {
  /** Same value as `id`, under the API's field name. */
  declare readonly eventDatasetId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly numShards: pulumi.Output<number>;
  declare readonly attributeSchema: pulumi.Output<Record<string, AttributeHandling> | null>;

  constructor(name: string, args: DatasetArgs, options?: pulumi.CustomResourceOptions) {
    super(EventDataset.lifecycle, name, args, options);
    // In a preview, the provider's output would be unknown. The id is known if the dataset exists and is not replaced.
    this.eventDatasetId = this.id;
  }

  /** @internal */
  static readonly lifecycle = eventDataset;
}
