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

/** Files of an import, and how to read their records. */
export interface ImportPlan {
  readonly kind: RecordKind;
  readonly source: string;
  readonly files: readonly SourceFile[];
  readonly mapping: Mapping;
}

/** Parses the options of an import and finds its files. */
export async function planImport(
  baseUrl: string,
  kindName: RecordKindName,
  source: string,
  options: ImportOptions,
): Promise<ImportPlan> {
  const { recordKindAt, recordKinds } = await import("../../records/kind.js");
  const { findFiles } = await import("../../records/source.js");
  const kind = recordKindAt(baseUrl, recordKinds[kindName]);
  const mapping = await mappingOf(kind, options);
  return { kind, source, mapping, files: await findFiles(source, options.format) };
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
  const given = { ...map, ...Object.fromEntries(constants), attributes, tsUnit };
  const schema = mappingSchema(kind);
  const checked = schema.safeParse(JSON.parse(JSON.stringify(given)));
  if (checked.success) return checked.data;
  throw new Error(
    `--map and --set: ${issuesText(checked.error.issues, schema).replace(/[^?]$/, "$&.")} ` +
      `Fields: ${kind.fields.join(", ")}.`,
  );
}
