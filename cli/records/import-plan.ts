import { resolve } from "node:path";
import type { RecordKind } from "../../records/kind";
import type { Mapping } from "../../records/mapping/mapping";
import type { SourceFile } from "../../records/source";
import type { ServiceOptions } from "../stack/service";

/** Options of an import. */
export interface ImportOptions extends ServiceOptions {
  readonly dataset?: string;
  readonly format?: "ndjson" | "json" | "csv" | "parquet";
  readonly map?: Readonly<Record<string, string>>;
  readonly set?: Readonly<Record<string, string>>;
  readonly attributes?: readonly string[];
  readonly tsUnit?: "s" | "ms" | "us";
  readonly parallel: number;
  readonly maxFailures: number;
  readonly shards?: number;
  readonly rejects?: string;
  readonly force?: true;
  readonly dryRun?: true;
}

/** The kinds of records that can be imported. */
export type RecordKindName = "users" | "items" | "events";

/** Source of an import, and how to read its records. */
export interface ImportPlan {
  readonly kind: RecordKind;
  readonly source: string;
  /** Name of the source for messages. */
  readonly displayName: string;
  /** Name of the source in the upload journal: the full path of a file, or an address. */
  readonly owner: string;
  readonly format: ImportOptions["format"];
  readonly mapping: Mapping;
  /** Finds the files of the source. Downloads a remote source, so call it only if the content is needed. */
  files(): Promise<readonly SourceFile[]>;
}

/** Parses the options of an import. */
export async function planImport(
  baseUrl: string,
  kindName: RecordKindName,
  source: string,
  options: ImportOptions,
): Promise<ImportPlan> {
  const { recordKindAt, recordKinds } = await import("../../records/kind.js");
  const { copyOf, findFiles } = await import("../../records/source.js");
  const { remoteSourceAt } = await import("../../records/sources/address.js");
  const { standardInput } = await import("../../records/sources/standard-input.js");
  const { format } = options;
  const kind = recordKindAt(baseUrl, recordKinds[kindName]);
  const mapping = await mappingOf(kind, options);
  const remote = source === "-" ? standardInput(format) : remoteSourceAt(source);
  return {
    kind,
    source,
    displayName: remote?.displayName ?? source,
    owner: remote ? source : resolve(source),
    format,
    mapping,
    files: async () => (remote ? [await copyOf(remote, format)] : findFiles(source, format)),
  };
}

/** Returns the options that map these fields to columns, for error messages. */
export function mappingFlags(fields: readonly string[]): string {
  const options = fields.map((field) =>
    field === "attributes" ? "--attributes COLUMN,…" : `--map ${field}=COLUMN`,
  );
  return options.join(" ");
}

async function mappingOf(kind: RecordKind, { map, set = {}, attributes, tsUnit }: ImportOptions) {
  const { mappingSchema } = await import("../../records/mapping/mapping.js");
  const { issuesText } = await import("../../contract/messages.js");
  const constants = Object.entries(set).map(([field, value]) => [field, { value }]);
  const given = { attributes, tsUnit, ...map, ...Object.fromEntries(constants) };
  const schema = mappingSchema(kind);
  const checked = schema.safeParse(JSON.parse(JSON.stringify(given)));
  if (checked.success) return checked.data;
  throw new Error(
    `The mapping of fields to columns is invalid: ${issuesText(checked.error.issues, schema).replace(/[^?]$/, "$&.")} ` +
      `Fields: ${kind.fields.join(", ")}.`,
  );
}
