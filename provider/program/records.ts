import { fileURLToPath } from "node:url";
import * as pulumi from "@pulumi/pulumi";
import type { JsonMap } from "../../contract";
import { assertColumns } from "../../records/columns";
import type { Format } from "../../records/formats/format";
import { inlineSource, inlineText, writeInline } from "../../records/inline";
import type { RecordKind } from "../../records/kind";
import type { Mapping } from "../../records/mapping/mapping";
import { contentHash, findFiles, hashable, inlineFile, unreadable } from "../../records/source";

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

/**
 * The arguments as they enter the state: in place of the content its hash.
 * It is taken here, in the program, so that a preview sees a change of the files and so do those who depend on it.
 */
export function declareRecords(args: RecordsArgs<object, object>, kind: RecordKind): pulumi.Inputs {
  const { source, format, mapping = {} } = args;
  // Unwrapping costs a promise for each value, which an array that holds only values can do without.
  const wrapped = isPlain(source) ? undefined : source;
  const located = pulumi.all([wrapped, format, mapping]).apply(([unwrapped, knownFormat, knownMapping]) => {
    const content = (unwrapped ?? source) as Content;
    return locate(content, knownFormat, knownMapping as Mapping, kind).catch(
      // Reported by `check`, beside the resource; a program that throws takes the SDK half a minute to report.
      (error: Error): Located => ({ source: unreadable + error.message, contentHash: "" }),
    );
  });
  return { ...args, source: located.source, contentHash: located.contentHash };
}

interface Located {
  readonly source: string;
  readonly contentHash: string;
}

/** An asset whose promises have been kept, as unwrapping leaves it. */
interface KnownAsset {
  readonly path?: string;
  readonly text?: string;
  readonly uri?: string;
}

type Content = string | readonly unknown[] | KnownAsset;

async function locate(
  content: Content,
  format: Format | undefined,
  mapping: Mapping,
  kind: RecordKind,
): Promise<Located> {
  const path = typeof content === "string" ? content : pathOf(content);
  const inline = path === undefined ? inlineOf(content, format) : undefined;
  const files = inline ? [inlineFile(inline.text, inline.format)] : await findFiles(path ?? "", format);
  const doubts = await assertColumns(files, kind, mapping, remedy);
  for (const doubt of doubts) await pulumi.log.warn(doubt);
  const hash = await contentHash(hashable(files), mapping);
  if (!inline) return { source: path ?? "", contentHash: hash };
  const source = inlineSource(`${pulumi.getProject()}/${pulumi.getStack()}`, inline.text, inline.format);
  if (!pulumi.runtime.isDryRun()) writeInline(source, inline.text);
  return { source, contentHash: hash };
}

/** The file that an asset stands for; undefined where it holds its content itself. */
function pathOf(content: readonly unknown[] | KnownAsset): string | undefined {
  if (!pulumi.asset.Asset.isInstance(content)) return undefined;
  const { path, uri } = content as KnownAsset;
  if (uri === undefined) return path;
  if (uri.startsWith("file:")) return fileURLToPath(uri);
  throw new Error(`${uri}: download it and name the file; only files of this machine are read`);
}

/** Records that the program holds, as text. */
function inlineOf(content: Content, format: Format | undefined): { text: Buffer; format: Format } {
  if (Array.isArray(content)) return { text: inlineText(content), format: "ndjson" };
  const { text } = content as KnownAsset;
  if (!pulumi.asset.Asset.isInstance(content) || text === undefined)
    throw new Error("expected a file, a glob, a FileAsset, a StringAsset or the records themselves");
  if (format && format !== "parquet") return { text: Buffer.from(text), format };
  throw new Error("the form of a StringAsset is not known: set format to ndjson, json or csv");
}

function remedy(fields: readonly string[]): string {
  const mapped = fields.map((field) =>
    field === "attributes" ? 'attributes: ["COLUMN"]' : `${field}: "COLUMN"`,
  );
  return `mapping: { ${mapped.join(", ")} }`;
}

/** Whether a value holds nothing that is still to come. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (value instanceof Promise || pulumi.Output.isInstance(value)) return false;
  return Object.values(value).every(isPlain);
}
