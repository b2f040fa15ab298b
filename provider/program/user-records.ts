import type * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import type { AttributesSource, FieldSource } from "../../records/mapping/mapping";
import { userRecords } from "../user-records";
import { declareRecords, type RecordsArgs } from "./records";
import { Resource } from "./resource";

/** A user with the attributes that the service may learn from. */
export interface UserRecord {
  readonly userId: pulumi.Input<string>;
  /** Attribute name to value; an array means several categories. */
  readonly attributes?: pulumi.Input<JsonMap>;
}

/** From which columns the fields of users come. */
export interface UserMapping {
  /** The column of `userId`, or one value for all; the column of that name unless set. */
  readonly userId?: FieldSource;
  /** Columns to take as attributes, or the one that holds them all; every column that is no field unless set. */
  readonly attributes?: AttributesSource;
}

/** What users are loaded with. */
export interface UserRecordsArgs extends RecordsArgs<UserRecord, UserMapping> {
  /** Id of the dataset that is filled; another one is filled anew. */
  readonly userDatasetId: pulumi.Input<string>;
}

/**
 * Users from files or from the program, kept in a dataset. Users that leave the source stay in the dataset.
 *
 * They are sent again when the content differs; a file that only moved is the same. What `parallel`, `maxFailures`,
 * `numShards` and `rejectsFile` say holds from the next upload on.
 */
export class UserRecords extends Resource {
  declare readonly userDatasetId: pulumi.Output<string>;
  /** Changes with the content, for the triggers of a model. */
  declare readonly contentHash: pulumi.Output<string>;
  /** Records that the service took. */
  declare readonly recordCount: pulumi.Output<number>;
  /** Records that were refused. */
  declare readonly failedCount: pulumi.Output<number>;

  constructor(name: string, args: UserRecordsArgs, options?: pulumi.CustomResourceOptions) {
    super(UserRecords.lifecycle, name, declareRecords(args), options);
  }

  /** @internal */
  static readonly lifecycle = userRecords;
}
