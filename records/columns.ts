import { wireName } from "../contract";
import { truncate } from "../contract/messages";
import { csvColumns } from "./formats/csv";
import { parquetShape } from "./formats/parquet";
import type { RecordKind } from "./kind";
import type { AttributesSource, Mapping } from "./mapping/mapping";
import { readRows, type SourceFile } from "./source";

/** Rows of a file without a list of its columns after which those are taken to be known. */
const sampleRows = 1000;
const shownColumns = 20;
const shownCharacters = 40;

/** The columns of a file. */
export interface Columns {
  readonly names: ReadonlySet<string>;
  /** Whether the file says that these are all; else they are those of its first rows. */
  readonly areAll: boolean;
}

/** The columns of a file; undefined where it has none that can be read, which the reader of its rows reports. */
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

/** A column that a mapping asks for, and the field it is for. */
interface Wanted {
  readonly field: string;
  /** It goes by one of these names. */
  readonly names: readonly string[];
}

/** The columns that a mapping asks for and a file does not have. */
export function missingColumns(kind: RecordKind, mapping: Mapping, { names }: Columns): Wanted[] {
  return wantedColumns(kind, mapping).filter((wanted) => !wanted.names.some((name) => names.has(name)));
}

function wantedColumns(kind: RecordKind, mapping: Mapping): Wanted[] {
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
 * Refuses files that lack a column which the mapping asks for, before their rows are read; gives what is only likely
 * to be missing: rows of JSON may have a column that the first of them do not have.
 */
export async function assertColumns(
  files: readonly SourceFile[],
  kind: RecordKind,
  mapping: Mapping,
  /** How fields are mapped to other columns: an option, or an argument. */
  remedy: (fields: readonly string[]) => string,
): Promise<string[]> {
  const doubts: string[] = [];
  for (const file of files) {
    const columns = await columnsOf(file);
    if (!columns) continue;
    const missing = missingColumns(kind, mapping, columns);
    const certain = missing.filter(({ field }) => columns.areAll || kind.required.includes(field));
    if (certain.length > 0) {
      const fields = [...new Set(certain.map(({ field }) => field))];
      throw new Error(`${problemOf(file, columns, certain)}; use ${remedy(fields)}`);
    }
    if (missing.length > 0) doubts.push(problemOf(file, columns, missing));
  }
  return doubts;
}

function problemOf(
  { displayName }: SourceFile,
  { names, areAll }: Columns,
  missing: readonly Wanted[],
): string {
  const lacking = missing.map(({ field, names: asked }) => {
    const column = asked.map(columnLabel).join(" or ");
    return asked.includes(field) || field === "attributes" ? column : `${column} (${field})`;
  });
  const all = [...names].map(columnLabel);
  const more = all.length > shownColumns ? `, … (${all.length})` : "";
  const there = all.slice(0, shownColumns).join(", ") + more;
  const where = areAll ? displayName : `${displayName} (its first rows)`;
  return `${where} has no column ${lacking.join(", ")}; it has ${there}`;
}

function columnLabel(name: string): string {
  const short = truncate(name, shownCharacters);
  return /^[\p{L}\p{N}\p{P}\p{S} …]+$/u.test(short) ? short : JSON.stringify(short);
}
