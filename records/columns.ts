import { wireName } from "../contract";
import { truncate } from "../contract/messages";
import { csvColumns } from "./formats/csv";
import { parquetShape } from "./formats/parquet";
import type { RecordKind } from "./kind";
import type { AttributesSource, Mapping } from "./mapping/mapping";
import { readRows, type SourceFile } from "./source";

/** Number of rows to read if a file has no list of columns. */
const sampleRows = 1000;
const shownColumns = 20;
const shownCharacters = 40;

/** Columns of a file. */
export interface Columns {
  readonly names: ReadonlySet<string>;
  /** Whether these are all columns of the file. Otherwise they come from its first rows. */
  readonly areAll: boolean;
}

/** Reads the columns of a file. Undefined if that fails; reading the rows then reports the problem. */
export async function columnsOf(file: SourceFile): Promise<Columns | undefined> {
  if (file.format === "csv") {
    const names = await csvColumns(file);
    return names && { names: new Set(names), areAll: true };
  }
  if (file.format === "parquet") return { names: new Set((await parquetShape(file)).columns), areAll: true };
  const names = new Set<string>();
  let seen = 0;
  for await (const rows of readRows(file)) {
    for (const { columns } of rows.slice(0, sampleRows - seen)) for (const name in columns) names.add(name);
    seen += rows.length;
    if (seen >= sampleRows) break;
  }
  return names.size > 0 ? { names, areAll: false } : undefined;
}

/** Column that a mapping requires. */
interface RequiredColumn {
  readonly field: string;
  /** Names that the column can have. */
  readonly names: readonly string[];
}

/** Returns the columns that a mapping requires and a file does not have. */
export function missingColumns(kind: RecordKind, mapping: Mapping, { names }: Columns): RequiredColumn[] {
  return requiredColumns(kind, mapping).filter((column) => !column.names.some((name) => names.has(name)));
}

function requiredColumns(kind: RecordKind, mapping: Mapping): RequiredColumn[] {
  return kind.fields.flatMap((field) => {
    const source = mapping[field];
    if (field === "attributes") {
      const columns = [(source as AttributesSource | undefined) ?? []].flat();
      return columns.map((column) => ({ field, names: [column] }));
    }
    if (typeof source === "string") return [{ field, names: [source] }];
    const isNeeded = source === undefined && kind.required.includes(field);
    return isNeeded ? [{ field, names: [...new Set([field, wireName(field)])] }] : [];
  });
}

/**
 * Throws if a file lacks a column that the mapping requires. Reads only the columns or the first rows.
 * @returns warnings about columns that may be missing: later rows of a JSON file can have columns that the first rows do
 *   not have
 */
export async function assertColumns(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
  /** Returns the option or argument that maps these fields, for the error message. */
  remedy: (fields: readonly string[]) => string,
): Promise<string[]> {
  const warnings: string[] = [];
  for (const file of files) {
    const columns = await columnsOf(file);
    if (!columns) continue;
    const missing = missingColumns(kind, mapping, columns);
    const certain = missing.filter(({ field }) => columns.areAll || kind.required.includes(field));
    if (certain.length > 0) {
      const fields = [...new Set(certain.map(({ field }) => field))];
      throw new Error(`${problemOf(file, columns, certain)}; use ${remedy(fields)}`);
    }
    if (missing.length > 0) warnings.push(problemOf(file, columns, missing));
  }
  return warnings;
}

function problemOf(
  { displayName }: SourceFile,
  { names, areAll }: Columns,
  missing: readonly RequiredColumn[],
): string {
  const missingNames = missing.map(({ field, names: expected }) => {
    const column = expected.map(columnLabel).join(" or ");
    return expected.includes(field) || field === "attributes" ? column : `${column} (${field})`;
  });
  const all = [...names].map(columnLabel);
  const more = all.length > shownColumns ? `, … (${all.length})` : "";
  const existing = all.slice(0, shownColumns).join(", ") + more;
  const where = areAll ? displayName : `${displayName} (its first rows)`;
  return `${where} has no column${missing.length === 1 ? "" : "s"} ${missingNames.join(", ")}; it has ${existing}`;
}

function columnLabel(name: string): string {
  const short = truncate(name, shownCharacters);
  return /^[\p{L}\p{N}\p{P}\p{S} …]+$/u.test(short) ? short : JSON.stringify(short);
}
