import { limits, wireName } from "../../contract";
import type { RecordKind } from "../kind";

/** Text length that is within the limits of all ids, names and types. */
const shortText = Math.min(limits.idCharacters, limits.nameCharacters);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns a fast check for valid records, because validating with the contract costs more than reading a record. The
 * check returns false if it is not sure. Use it only for records from JSON, because it assumes that attribute values
 * are valid JSON. The service checks how deeply they are nested.
 */
export function plainCheck({ fields, type }: RecordKind): (record: Fields) => boolean {
  const others = ["ts", "eventValue", "attributes"];
  const texts = fields.filter((field) => !others.includes(field)).map(wireName);
  const isEvent = type === "event";
  return (record) => {
    for (const key of texts) {
      const value = record[key];
      if (typeof value !== "string" || value === "" || value.length > shortText || value.includes("\0"))
        return false;
    }
    if (isEvent && !(Number.isSafeInteger(record.ts) && (record.ts as number) >= 0)) return false;
    const { event_value: weight } = record;
    if (isEvent && !(typeof weight === "number" && Math.abs(weight) <= limits.eventValue)) return false;
    const { attributes } = record;
    return typeof attributes === "object" && attributes !== null && !Array.isArray(attributes);
  };
}
