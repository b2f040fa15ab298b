import type * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import type { AttributesSource, FieldSource } from "../../records/mapping/mapping";
import type { TimeUnit } from "../../records/mapping/timestamp";
import { eventRecords } from "../event-records";
import { declareRecords, type RecordsArgs } from "./records";
import { Resource } from "./resource";

/** One act of a user on an item. */
export interface EventRecord {
  /** Unique id; built from user, item and time unless set. */
  readonly eventId?: pulumi.Input<string>;
  readonly userId: pulumi.Input<string>;
  readonly itemId: pulumi.Input<string>;
  /**
   * Time of the event: an ISO date (UTC where it names no zone), seconds or milliseconds. A number below
   * 100,000,000,000 is seconds, from there on it is milliseconds, unless the mapping gives its unit.
   */
  readonly ts: pulumi.Input<number | string>;
  /** Kind of act; a project optimises one of them. */
  readonly eventType: pulumi.Input<string>;
  /** Weight in training; 1 unless set. */
  readonly eventValue?: pulumi.Input<number>;
  /** Properties of the event; need not match the dataset's schema. */
  readonly attributes?: pulumi.Input<JsonMap>;
}

/** From which columns the fields of events come. */
export interface EventMapping {
  /** The column of `eventId`, or one value for all; the column of that name unless set. */
  readonly eventId?: FieldSource;
  /** The column of `userId`, or one value for all; the column of that name unless set. */
  readonly userId?: FieldSource;
  /** The column of `itemId`, or one value for all; the column of that name unless set. */
  readonly itemId?: FieldSource;
  /** The column of `ts`, or one value for all; the column of that name unless set. */
  readonly ts?: FieldSource;
  /** Unit of a `ts` that is a number; seconds or milliseconds, by its size, unless set. */
  readonly tsUnit?: TimeUnit;
  /** The column of `eventType`, or one value for all; the column of that name unless set. */
  readonly eventType?: FieldSource;
  /** The column of `eventValue`, or one value for all; the column of that name unless set. */
  readonly eventValue?: FieldSource;
  /** Columns to take as attributes, or the one that holds them all; every column that is no field unless set. */
  readonly attributes?: AttributesSource;
}

/** What events are loaded with. */
export interface EventRecordsArgs extends RecordsArgs<EventRecord, EventMapping> {
  /** Id of the dataset that is filled; another one is filled anew. */
  readonly eventDatasetId: pulumi.Input<string>;
}

/**
 * Events from files or from the program, kept in a dataset. Events that leave the source stay in the dataset.
 *
 * They are sent again when the content differs; a file that only moved is the same. What `parallel`, `maxFailures`,
 * `numShards` and `rejectsFile` say holds from the next upload on.
 */
export class EventRecords extends Resource {
  declare readonly eventDatasetId: pulumi.Output<string>;
  /** Changes with the content, for the triggers of a model. */
  declare readonly contentHash: pulumi.Output<string>;
  /** Records that the service took. */
  declare readonly recordCount: pulumi.Output<number>;
  /** Records that were refused. */
  declare readonly failedCount: pulumi.Output<number>;

  constructor(name: string, args: EventRecordsArgs, options?: pulumi.CustomResourceOptions) {
    super(EventRecords.lifecycle, name, declareRecords(args), options);
  }

  /** @internal */
  static readonly lifecycle = eventRecords;
}
