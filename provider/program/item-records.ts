import type * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import type { AttributesSource, FieldSource } from "../../records/mapping/mapping";
import { itemRecords } from "../item-records";
import { declareRecords, type RecordsArgs } from "./records";
import { Resource } from "./resource";

/** An item and the attributes that the service can learn from. */
export interface ItemRecord {
  readonly itemId: pulumi.Input<string>;
  /** Attribute values by name. An array means several categories. */
  readonly attributes?: pulumi.Input<JsonMap>;
}

/** Mapping from columns to the fields of items. */
export interface ItemMapping {
  /** Column for `itemId`, or one value for all records. Default: the column `itemId` or `item_id`. */
  readonly itemId?: FieldSource;
  /**
   * Columns that become attributes, or one column that contains all attributes. Default: every column that is not used
   * for a field.
   */
  readonly attributes?: AttributesSource;
}

/** Arguments of `ItemRecords`. */
export interface ItemRecordsArgs extends RecordsArgs<ItemRecord, ItemMapping> {
  /** Id of the dataset to upload to. If it changes, all records are uploaded to the new dataset. */
  readonly itemDatasetId: pulumi.Input<string>;
}

/**
 * Items from files or from the program, uploaded to a dataset. Items that you remove from the source stay in the
 * dataset.
 *
 * If the content of the source changes, the changed items are uploaded again. Moving a file is not a change. New values
 * of `parallel`, `maxFailures`, `numShards` and `rejectsFile` take effect with the next upload. If you lower
 * `maxFailures` below `failedCount`, the batches with rejected records are sent again.
 */
export class ItemRecords extends Resource {
  declare readonly itemDatasetId: pulumi.Output<string>;
  /** Hash of the content. Pass it to the `triggers` of a model to train again when the content changes. */
  declare readonly contentHash: pulumi.Output<string>;
  /** Number of records that the service accepted. */
  declare readonly recordCount: pulumi.Output<number>;
  /** Number of rejected records. */
  declare readonly failedCount: pulumi.Output<number>;

  constructor(name: string, args: ItemRecordsArgs, options?: pulumi.CustomResourceOptions) {
    super(ItemRecords.lifecycle, name, declareRecords(args), options);
  }

  /** @internal */
  static readonly lifecycle = itemRecords;
}
