import type * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import type { AttributesSource, FieldSource } from "../../records/mapping/mapping";
import type { TimeUnit } from "../../records/mapping/timestamp";
import { eventRecords } from "../event-records";
import { declareRecords, type RecordsArgs } from "./records";
import { Resource } from "./resource";

/** An interaction of a user with an item. */
export interface EventRecord {
  /** Unique id. Default: an id built from user, item and time. */
  readonly eventId?: pulumi.Input<string>;
  readonly userId: pulumi.Input<string>;
  readonly itemId: pulumi.Input<string>;
  /**
   * Time of the event: an ISO date (UTC if it has no time zone), seconds or milliseconds. Unless the mapping sets
   * `tsUnit`, a number below 100,000,000,000 is in seconds, and a larger one in milliseconds.
   */
  readonly ts: pulumi.Input<number | string>;
  /** Type of interaction. A project optimises for one type. */
  readonly eventType: pulumi.Input<string>;
  /** Weight in training. Default: 1. */
  readonly eventValue?: pulumi.Input<number>;
  /** Properties of the event. They may differ from the dataset's schema. */
  readonly attributes?: pulumi.Input<JsonMap>;
}

/** Mapping from columns to the fields of events. */
export interface EventMapping {
  /** Column for `eventId`, or one value for all records. Default: the column `eventId` or `event_id`. */
  readonly eventId?: FieldSource;
  /** Column for `userId`, or one value for all records. Default: the column `userId` or `user_id`. */
  readonly userId?: FieldSource;
  /** Column for `itemId`, or one value for all records. Default: the column `itemId` or `item_id`. */
  readonly itemId?: FieldSource;
  /** Column for `ts`, or one value for all records. Default: the column `ts`. */
  readonly ts?: FieldSource;
  /** Unit of a numeric `ts`. Default: seconds or milliseconds, depending on the size of the number. */
  readonly tsUnit?: TimeUnit;
  /** Column for `eventType`, or one value for all records. Default: the column `eventType` or `event_type`. */
  readonly eventType?: FieldSource;
  /** Column for `eventValue`, or one value for all records. Default: the column `eventValue` or `event_value`. */
  readonly eventValue?: FieldSource;
  /**
   * Columns that become attributes, or one column that contains all attributes. Default: every column that is not used
   * for a field.
   */
  readonly attributes?: AttributesSource;
}

/** Arguments of `EventRecords`. */
export interface EventRecordsArgs extends RecordsArgs<EventRecord, EventMapping> {
  /** Id of the dataset to upload to. If it changes, all records are uploaded to the new dataset. */
  readonly eventDatasetId: pulumi.Input<string>;
}

/**
 * Events from files or from the program, uploaded to a dataset. Events that you remove from the source stay in the
 * dataset.
 *
 * If the content of the source changes, the changed events are uploaded again. Moving a file is not a change. New
 * values of `parallel`, `maxFailures`, `numShards` and `rejectsFile` take effect with the next upload. If you lower
 * `maxFailures` below `failedCount`, the batches with rejected records are sent again.
 */
export class EventRecords extends Resource {
  declare readonly eventDatasetId: pulumi.Output<string>;
  /** Hash of the content. Pass it to the `triggers` of a model to train again when the content changes. */
  declare readonly contentHash: pulumi.Output<string>;
  /** Number of records that the service accepted. */
  declare readonly recordCount: pulumi.Output<number>;
  /** Number of rejected records. */
  declare readonly failedCount: pulumi.Output<number>;

  constructor(name: string, args: EventRecordsArgs, options?: pulumi.CustomResourceOptions) {
    super(EventRecords.lifecycle, name, declareRecords(args), options);
  }

  /** @internal */
  static readonly lifecycle = eventRecords;
}
