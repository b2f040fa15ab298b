import * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import type { Format } from "../../records/formats/format";
import { inlineText } from "../../records/inline";

/** What all records are declared with, beside their dataset. */
export interface RecordsArgs<Record extends object, Fields extends object> {
  /**
   * A file, a glob, an asset, or the records themselves. Paths are relative to the program's folder. Files may be
   * gzip; what the columns of a row are follows from `mapping`.
   */
  readonly source: pulumi.Input<string | pulumi.asset.Asset | readonly pulumi.Input<Record | JsonMap>[]>;
  /** The form of the files, or of the text of a StringAsset; taken from their extensions unless set. */
  readonly format?: pulumi.Input<Format>;
  /** From which column each field comes; a field comes from the column of its own name unless set. */
  readonly mapping?: pulumi.Input<Fields>;
  /** Records that may be refused before the upload counts as failed; 0 unless set. */
  readonly maxFailures?: pulumi.Input<number>;
  /** Upserts under way at once; 8 unless set. */
  readonly parallel?: pulumi.Input<number>;
  /** Shards of the dataset, so that a source that cannot fit is refused before the first upload. */
  readonly numShards?: pulumi.Input<number>;
  /** Where refused records are written; `recommender-rejects-NAME.ndjson` in the program's folder unless set. */
  readonly rejectsFile?: pulumi.Input<string>;
}

/** The arguments as they go through the engine. */
export function declareRecords(args: RecordsArgs<object, object>): pulumi.Inputs {
  const { source, mapping } = args;
  // Unwrapping costs a promise for each value, which an array that holds only values can do without.
  if (isPlain([source, mapping])) return { ...args, source: carried(source) };
  // The lifecycle takes the hash; what stands in its place until then is secret where the content or the mapping is.
  const contentHash = pulumi.all([source, mapping]).apply(() => "");
  return { ...args, source: pulumi.output(source).apply(carried), contentHash };
}

/**
 * Records as text: the engine would put the keys of objects in another order, and their hash would be another.
 * Files by their names: the engine would read them too.
 */
function carried(content: unknown): unknown {
  if (Array.isArray(content)) return { ndjson: inlineText(content) };
  if (!pulumi.asset.Asset.isInstance(content)) return content;
  const { path, uri } = content as { readonly path?: string; readonly uri?: string };
  return path ?? uri ?? content;
}

/** Whether a value holds nothing that is still to come. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (value instanceof Promise || pulumi.Output.isInstance(value)) return false;
  return Object.values(value).every(isPlain);
}
