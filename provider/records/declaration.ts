import * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import { inlineSource, inlineText, layDown } from "./inline";
import type { Mapping } from "./mapping";
import { contentHash, type Format, findFiles, hashable, unreadable } from "./source";

/** What all records are declared with, beside their dataset. */
export interface RecordsArgs<Record extends object, Fields extends object> {
  /**
   * A file, a glob, or the records themselves. Paths are relative to the program's folder. Files may be gzip; what
   * the columns of a row are follows from `mapping`.
   */
  readonly source: pulumi.Input<string | readonly pulumi.Input<Record | JsonMap>[]>;
  /** The form of the files; told by the end of their names unless set. */
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

/**
 * The arguments as they enter the state: in place of the content its hash.
 * It is taken here, in the program, so that a preview sees a change of the files and so do those who depend on it.
 */
export function declareRecords(args: RecordsArgs<object, object>): pulumi.Inputs {
  const { source, format, mapping = {} } = args;
  // Unwrapping costs a promise for each value, which an array that holds only values can do without.
  const wrapped = isPlain(source) ? undefined : source;
  const located = pulumi.all([wrapped, format, mapping]).apply(([unwrapped, knownFormat, knownMapping]) => {
    const content = (unwrapped ?? source) as Content;
    return locate(content, knownFormat, knownMapping as Mapping).catch(
      // Told by `check`, beside the resource; a program that throws takes the SDK half a minute to report.
      (error: Error): Located => ({ source: unreadable + error.message, contentHash: "" }),
    );
  });
  return { ...args, source: located.source, contentHash: located.contentHash };
}

interface Located {
  readonly source: string;
  readonly contentHash: string;
}

type Content = string | readonly unknown[];

async function locate(content: Content, format: Format | undefined, mapping: Mapping): Promise<Located> {
  if (typeof content === "string") {
    const files = hashable(await findFiles(content, format));
    return { source: content, contentHash: await contentHash(files, mapping) };
  }
  const text = inlineText(content);
  const source = inlineSource(`${pulumi.getProject()}/${pulumi.getStack()}`, text);
  if (!pulumi.runtime.isDryRun()) layDown(source, text);
  return { source, contentHash: await contentHash([{ format: "ndjson", content: [text] }], mapping) };
}

/** Whether a value holds nothing that is still to come. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (value instanceof Promise || pulumi.Output.isInstance(value)) return false;
  return Object.values(value).every(isPlain);
}
