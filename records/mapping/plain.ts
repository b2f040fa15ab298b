import { limits, wireName } from "../../contract";
import type { RecordKind } from "../kind";

/** Text of this length is within every limit of ids and types. */
const shortText = Math.min(limits.idCharacters, limits.nameCharacters);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Tells records that the contract would take as they are without asking it, which costs more than reading them does.
 * It says no wherever it is in doubt. Only for records that were JSON, whose values need no looking at; how deep they
 * are nested is left to the service.
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
