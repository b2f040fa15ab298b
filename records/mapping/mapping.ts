import { z } from "zod";
import { buildEventId, wireName, wireSchema } from "../../contract";
import { issuesText } from "../../contract/messages";
import type { Format } from "../formats/format";
import type { RecordKind } from "../kind";
import { plainCheck } from "./plain";
import { InvalidTime, type TimeUnit, timestampMs, timeUnits } from "./timestamp";

/** Source of a field: a column, or one value for all records. */
export type FieldSource =
  | string
  | {
      /** Value of the field in every record. */
      readonly value: string | number;
    };

/** Source of the attributes: a list of columns, or one column that contains all attributes. */
export type AttributesSource = string | readonly string[];

/** Source of each field. Default: the column with the name of the field. */
export interface Mapping {
  readonly [field: string]: FieldSource | AttributesSource | undefined;
}

const fieldSource = z.union(
  [z.string().min(1), z.strictObject({ value: z.union([z.string(), z.number()]) })],
  { error: "expected the name of a column, or { value: … } for all records" },
);
const attributesSource = z.union([z.string().min(1), z.array(z.string().min(1))], {
  error: "expected the name of a column, or a list of them",
});

/** Returns the schema of a mapping for a kind of record. */
export function mappingSchema(kind: RecordKind): z.ZodType<Mapping> {
  const fields = kind.fields.map((field) => [
    field,
    (field === "attributes" ? attributesSource : fieldSource).optional(),
  ]);
  const unit = z.enum(timeUnits, { error: `expected one of ${timeUnits.join(", ")}` }).optional();
  const units = kind.fields.includes("ts") ? { tsUnit: unit } : {};
  return z.strictObject({ ...Object.fromEntries(fields), ...units }) as z.ZodType<Mapping>;
}

/** Error if a record of a source is invalid. */
export class InvalidRecord extends Error {
  override readonly name = "InvalidRecord";
}

type Columns = Readonly<Record<string, unknown>>;

/** Returns a function that converts rows to records for the API. It throws InvalidRecord for an invalid row. */
export function mapper(kind: RecordKind, mapping: Mapping, format: Format): (row: Columns) => Columns {
  const fields = kind.fields
    .filter((field) => field !== "attributes")
    .map((field) => ({
      key: wireName(field),
      read: fieldReader(field, mapping),
    }));
  const attributes = attributesReader(kind, mapping, valueReader(format));
  const wire = wireSchema(kind.record) as z.ZodType<Columns>;
  const text = format === "csv";
  const unit = mapping.tsUnit as TimeUnit | undefined;
  const isPlain = format === "ndjson" || format === "json" ? plainCheck(kind) : () => false;
  return (row) => {
    const record: Record<string, unknown> = {};
    for (const { key, read } of fields) {
      const value = read(row);
      if (value !== undefined && value !== null && !(text && value === ""))
        record[key] = fieldValue(key, value, text, unit);
    }
    record.attributes = attributes(row);
    if (kind.type === "event" && record.event_id === undefined) record.event_id = builtId(record);
    if (isPlain(record)) return record;
    const checked = wire.safeParse(record);
    if (checked.success) return checked.data;
    // If the id could not be built, the fields that are missing for it are reported instead.
    const issues = checked.error.issues.filter(
      ({ path }) => path[0] !== "event_id" || record.event_id !== undefined,
    );
    throw new InvalidRecord(issuesText(issues));
  };
}

/** Returns a function that reads one field of a row. The value has the type that the format provides. */
export function fieldReader(field: string, mapping: Mapping): (row: Columns) => unknown {
  const source = mapping[field] as FieldSource | undefined;
  if (typeof source === "object") return () => source.value;
  if (source !== undefined) return (row) => row[source];
  const wire = wireName(field);
  return wire === field ? (row) => row[field] : (row) => row[wire] ?? row[field];
}

function fieldValue(key: string, value: unknown, text: boolean, unit: TimeUnit | undefined): unknown {
  if (key === "ts") return tsValue(value, unit);
  if (key === "event_value") return text || typeof value === "bigint" ? Number(value) : value;
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "number") return value;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new InvalidRecord(`${key}: ${value} is too large for an exact number; put it in quotes`);
}

function tsValue(value: unknown, unit: TimeUnit | undefined): number {
  try {
    return timestampMs(value, unit);
  } catch (error) {
    if (!(error instanceof InvalidTime)) throw error;
    const hint = error.lacksUnit ? "; if the number is correct, set its unit (tsUnit, --ts-unit)" : "";
    throw new InvalidRecord(`ts: ${error.message}${hint}`);
  }
}

function builtId({ user_id, item_id, ts }: Record<string, unknown>): string | undefined {
  return user_id === undefined || item_id === undefined || ts === undefined
    ? undefined
    : buildEventId(String(user_id), String(item_id), ts as number);
}

function attributesReader(kind: RecordKind, mapping: Mapping, convert: (value: unknown) => unknown) {
  const source = mapping.attributes as AttributesSource | undefined;
  const column = typeof source === "string" ? source : "attributes";
  const taken = new Set(
    kind.fields.flatMap((field) => {
      const from = mapping[field];
      if (field === "attributes") return [column];
      return typeof from === "string" ? [from] : [field, wireName(field)];
    }),
  );
  const copy = (row: Columns, keys: readonly string[]) => {
    // An object without a prototype treats a column `__proto__` like any other column.
    const attributes: Record<string, unknown> = Object.create(null);
    for (const key of keys) {
      const value = convert(row[key]);
      if (value !== undefined) attributes[key] = value;
    }
    return attributes;
  };
  if (Array.isArray(source)) return (row: Columns) => copy(row, source);
  return (row: Columns) => {
    const given = attributesIn(row[column], column);
    let rest: string[] | undefined;
    for (const key in row) {
      if (taken.has(key)) continue;
      rest ??= [];
      rest.push(key);
    }
    if (rest === undefined || typeof source === "string") return given;
    return Object.assign(copy(row, rest), given);
  };
}

/** Reads attributes from a column that contains an object or JSON text. */
function attributesIn(value: unknown, column: string): Columns {
  if (value === undefined || value === null || value === "") return {};
  let attributes = value;
  if (typeof value === "string") {
    try {
      attributes = JSON.parse(value);
    } catch {
      throw new InvalidRecord(`${column}: expected a JSON object, received ${JSON.stringify(value)}`);
    }
  }
  return attributes as Columns;
}

/** Returns a function that converts a column value to an attribute, or to undefined if there is no value. */
function valueReader(format: Format): (value: unknown) => unknown {
  if (format === "csv") return cellValue;
  if (format === "parquet") return parquetValue;
  return (value) => value;
}

/** Converts a cell to a number if that keeps its spelling: 42 and 0.5 become numbers, 01234 stays text. */
function cellValue(cell: unknown): unknown {
  if (cell === "" || cell === undefined) return undefined;
  const number = Number(cell);
  return String(number) === cell && Number.isFinite(number) ? number : cell;
}

function parquetValue(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(parquetValue);
  if (typeof value === "object" && !ArrayBuffer.isView(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, parquetValue(member) ?? null]),
    );
  }
  return value;
}
