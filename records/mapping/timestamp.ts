/** Units of numeric times since 1970, in milliseconds. */
const unitMs = { s: 1000, ms: 1, us: 0.001 } as const;

/** Unit of a numeric time. */
export type TimeUnit = keyof typeof unitMs;

/** Names of the units. */
export const timeUnits = Object.keys(unitMs) as TimeUnit[];

/**
 * Smallest number that is read as milliseconds. Smaller numbers are seconds. As seconds this is the year 5138, as
 * milliseconds March 1973.
 */
const firstMilliseconds = 100_000_000_000;

/** First implausible time. If a number with a guessed unit results in this time or a later one, the guess is wrong. */
const firstImplausibleMs = Date.UTC(2100, 0, 1);

const isoDate =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s*(?<zone>Z|[+-]\d\d:?\d\d)?)?$/i;
const decimal = /^-?\d+(?:\.\d+)?$/;

/** Error if a value is not a time, or not a plausible time. */
export class InvalidTime extends Error {
  override readonly name = "InvalidTime";

  constructor(
    problem: string,
    /** Whether the value may be valid with an explicit unit. */
    readonly lacksUnit = false,
  ) {
    super(problem);
  }
}

/**
 * Converts an ISO date (UTC if it has no time zone) or a number to milliseconds. Without a unit, the size of the number
 * decides between seconds and milliseconds, and the time must be plausible.
 */
export function timestampMs(value: unknown, unit?: TimeUnit): number {
  if (typeof value === "number" && Number.isFinite(value)) return numberMs(value, unit);
  if (typeof value === "bigint") return numberMs(Number(value), unit);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.getTime();
  const text = typeof value === "string" ? value.trim() : "";
  if (decimal.test(text)) return numberMs(Number(text), unit);
  const iso = isoDate.exec(text)?.groups;
  if (!iso) throw new InvalidTime(`expected an ISO date, seconds or milliseconds, received ${quoted(value)}`);
  if (!isDay(iso.day as string)) throw new InvalidTime(`there is no day ${iso.day}`);
  const date = text.replace(" ", "T").replace(/\s/g, "").replace(",", ".");
  const ms = Date.parse(iso.zone || date.length === 10 ? date : `${date}Z`);
  if (Number.isNaN(ms)) throw new InvalidTime(`there is no time ${text}`);
  return ms;
}

function numberMs(value: number, unit: TimeUnit | undefined): number {
  if (unit) return Math.round(value * unitMs[unit]);
  const isSeconds = Math.abs(value) < firstMilliseconds;
  const ms = Math.round(isSeconds ? value * 1000 : value);
  if (ms >= firstImplausibleMs) {
    const year = new Date(ms).getUTCFullYear();
    const when = Number.isNaN(year) ? "beyond any calendar" : `in the year ${year}`;
    throw new InvalidTime(`${value} as ${isSeconds ? "seconds" : "milliseconds"} is ${when}`, true);
  }
  const day = value > 19_700_000 && value < 21_000_000 && dashed(value);
  if (day) throw new InvalidTime(`${value} as seconds is in 1970; write the date as ${day}`, true);
  return ms;
}

/** Converts a number such as 20250131 to an ISO date. Undefined if it is not a date. */
function dashed(value: number): string | undefined {
  const day = String(value).replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  return isDay(day) ? day : undefined;
}

/** Whether a day exists. Date.parse accepts 30 February as 2 March. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && (Number(day.slice(8)) <= 28 || new Date(ms).toISOString().startsWith(day));
}

function quoted(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}
