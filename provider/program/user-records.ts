import type * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import type { AttributesSource, FieldSource } from "../../records/mapping/mapping";
import { userRecords } from "../user-records";
import { declareRecords, type RecordsArgs } from "./records";
import { Resource } from "./resource";

/** A user and the attributes that the service can learn from. */
export interface UserRecord {
  readonly userId: pulumi.Input<string>;
  /** Attribute values by name. An array means several categories. */
  readonly attributes?: pulumi.Input<JsonMap>;
}

/** Mapping from columns to the fields of users. */
export interface UserMapping {
  /** Column for `userId`, or one value for all records. Default: the column `userId` or `user_id`. */
  readonly userId?: FieldSource;
  /**
   * Columns that become attributes, or one column that contains all attributes. Default: every column that is not used
   * for a field.
   */
  readonly attributes?: AttributesSource;
}

/** Arguments of `UserRecords`. */
export interface UserRecordsArgs extends RecordsArgs<UserRecord, UserMapping> {
  /** Id of the dataset to upload to. If it changes, all records are uploaded to the new dataset. */
  readonly userDatasetId: pulumi.Input<string>;
}

/**
 * Users from files or from the program, uploaded to a dataset. Users that you remove from the source stay in the
 * dataset.
 *
 * If the content of the source changes, the changed users are uploaded again. Moving a file is not a change. New values
 * of `parallel`, `maxFailures`, `numShards` and `rejectsFile` take effect with the next upload. If you lower
 * `maxFailures` below `failedCount`, the batches with rejected records are sent again.
 */
export class UserRecords extends Resource {
  declare readonly userDatasetId: pulumi.Output<string>;
  /** Hash of the content. Pass it to the `triggers` of a model to train again when the content changes. */
  declare readonly contentHash: pulumi.Output<string>;
  /** Number of records that the service accepted. */
  declare readonly recordCount: pulumi.Output<number>;
  /** Number of rejected records. */
  declare readonly failedCount: pulumi.Output<number>;

  constructor(name: string, args: UserRecordsArgs, options?: pulumi.CustomResourceOptions) {
    super(UserRecords.lifecycle, name, declareRecords(args), options);
  }

  /** @internal */
  static readonly lifecycle = userRecords;
}
