import * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import type { Format } from "../../records/formats/format";
import { inlineText } from "../../records/inline";

/** Arguments that all kinds of records have in common. */
export interface RecordsArgs<Record extends object, Fields extends object> {
  /**
   * A file, a glob, an address that starts with `https://`, `s3://` or `postgres://`, an asset, or a list of records.
   * Paths are relative to the program's directory. Files can be compressed with gzip. `mapping` assigns their columns to
   * fields.
   */
  readonly source: pulumi.Input<string | pulumi.asset.Asset | readonly pulumi.Input<Record | JsonMap>[]>;
  /** Format of the files, or of the text of a StringAsset. Default: the file extension decides. */
  readonly format?: pulumi.Input<Format>;
  /** Column for each field. Default: the column with the name of the field, such as `userId` or `user_id`. */
  readonly mapping?: pulumi.Input<Fields>;
  /** Maximum number of rejected records. With more, the upload fails. Default: 0. */
  readonly maxFailures?: pulumi.Input<number>;
  /** Maximum number of concurrent upsert calls. Default: 8. */
  readonly parallel?: pulumi.Input<number>;
  /** Number of shards of the dataset. If you set it, a source that is too large is rejected before the upload. */
  readonly numShards?: pulumi.Input<number>;
  /** File for rejected records. Default: `recommender-rejects-NAME.ndjson` in the program's directory. */
  readonly rejectsFile?: pulumi.Input<string>;
}

/** Converts the arguments of records to the form in which the engine receives them. */
export function declareRecords(args: RecordsArgs<object, object>): pulumi.Inputs {
  const { source, mapping } = args;
  // An output costs a promise for each value, so it is avoided if the records contain no outputs.
  if (isPlain([source, mapping])) return { ...args, source: engineForm(source) };
  // The lifecycle computes the hash. This placeholder is secret if the content or the mapping is secret.
  const contentHash = pulumi.all([source, mapping]).apply(() => "");
  return { ...args, source: pulumi.output(source).apply(engineForm), contentHash };
}

/**
 * Converts records to text, because the engine reorders the keys of objects, which would change their hash. Replaces
 * file assets with their paths, because the engine would read the files too.
 */
function engineForm(content: unknown): unknown {
  if (Array.isArray(content)) return { ndjson: inlineText(content) };
  if (!pulumi.asset.Asset.isInstance(content)) return content;
  const { path, uri } = content as { readonly path?: string; readonly uri?: string };
  return path ?? uri ?? content;
}

/** Whether a value contains no outputs and no promises. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (value instanceof Promise || pulumi.Output.isInstance(value)) return false;
  return Object.values(value).every(isPlain);
}
