/** The units that a number of time since 1970 may have, with what one of them is in milliseconds. */
const unitMs = { s: 1000, ms: 1, us: 0.001 } as const;

/** The unit of a time that is a number. */
export type TimeUnit = keyof typeof unitMs;

/** The units of time, for options and arguments. */
export const timeUnits = Object.keys(unitMs) as TimeUnit[];

/**
 * Where seconds end and milliseconds begin: a number below 100,000,000,000 is seconds, from there on it is
 * milliseconds. As seconds that is the year 5138, as milliseconds March 1973.
 */
const firstMilliseconds = 100_000_000_000;

/** A number whose unit is guessed and that would be as late has another unit. */
const firstImplausibleMs = Date.UTC(2100, 0, 1);

const isoDate =
  /^(?<day>\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s*(?<zone>Z|[+-]\d\d:?\d\d)?)?$/i;
const decimal = /^-?\d+(?:\.\d+)?$/;

/** A value is no time, or hardly the one that is meant; the message says why. */
export class InvalidTime extends Error {
  override readonly name = "InvalidTime";

  constructor(
    problem: string,
    /** Whether it would be a time if its unit were known. */
    readonly lacksUnit = false,
  ) {
    super(problem);
  }
}

/**
 * A time in milliseconds from an ISO date (UTC where it names no zone) or a number.
 * Without a unit a number is seconds or milliseconds, by its size, and must be a plausible time.
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
  if (day) throw new InvalidTime(`${value} as seconds is in 1970; the date is written ${day}`, true);
  return ms;
}

/** A number such as 20250131 as the date that it looks like. */
function dashed(value: number): string | undefined {
  const day = String(value).replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  return isDay(day) ? day : undefined;
}

/** The platform reads dates leniently: 30 February is 2 March to it. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && (Number(day.slice(8)) <= 28 || new Date(ms).toISOString().startsWith(day));
}

function quoted(value: unknown): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}
