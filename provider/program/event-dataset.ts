import type * as pulumi from "@pulumi/pulumi";
import { eventDataset } from "../event-dataset";
import { Resource } from "./resource";

/** How an attribute is handled. */
export type AttributeHandling = "NUMERICAL" | "CATEGORICAL";

/** What every kind of dataset is declared with. */
export interface DatasetArgs {
  /** Name of the dataset; the logical name unless set. */
  readonly name?: pulumi.Input<string>;
  /** Number of shards, each of at most 100,000 records; another number creates another dataset. */
  readonly numShards: pulumi.Input<number>;
  /** Handling of each named attribute; null lets the service infer it. */
  readonly attributeSchema?: pulumi.Input<Record<string, pulumi.Input<AttributeHandling>> | null>;
  /** Id of an existing dataset to adopt instead of creating one. */
  readonly existingId?: pulumi.Input<string>;
}

/**
 * A dataset of what users did with items; several projects may share one.
 *
 * A replacement deletes its events, unless the option `retainOnDelete` is set. The option `protect` forbids
 * a replacement. With `existingId` the dataset must exist and have the declared number of shards. Its name and schema
 * are changed to what is declared.
 */
export class EventDataset extends Resource {
  /** The id, under the name that the API gives it. */
  declare readonly eventDatasetId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly numShards: pulumi.Output<number>;
  declare readonly attributeSchema: pulumi.Output<Record<string, AttributeHandling> | null>;

  constructor(name: string, args: DatasetArgs, options?: pulumi.CustomResourceOptions) {
    super(EventDataset.lifecycle, name, args, options);
    // Known in a preview that changes it in place.
    this.eventDatasetId = this.id;
  }

  /** @internal */
  static readonly lifecycle = eventDataset;
}
