/**
 * Where seconds end and milliseconds begin: a number below 100,000,000,000 is seconds, from there on it is
 * milliseconds. As seconds that is the year 5138, as milliseconds March 1973.
 */
const firstMilliseconds = 100_000_000_000;

const isoDate = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s*(?<zone>Z|[+-]\d\d:?\d\d)?)?$/i;
const decimal = /^-?\d+(?:\.\d+)?$/;

/** A time in milliseconds from an ISO date (UTC where it names no zone), seconds or milliseconds; else undefined. */
export function timestampMs(value: unknown): number | undefined {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return undefined;
    return Math.round(Math.abs(value) < firstMilliseconds ? value * 1000 : value);
  }
  if (typeof value === "bigint") return timestampMs(Number(value));
  if (value instanceof Date) return timestampOf(value.getTime());
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (decimal.test(text)) return timestampMs(Number(text));
  const iso = isoDate.exec(text);
  if (!iso) return undefined;
  const date = text.replace(" ", "T").replace(/\s/g, "").replace(",", ".");
  return timestampOf(Date.parse(iso.groups?.zone || date.length === 10 ? date : `${date}Z`));
}

function timestampOf(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms;
}
