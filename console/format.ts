const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const dayTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const yearTime = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

type Maybe = number | null | undefined;

/** Formats a whole number with thousands separators: 12,400. */
export const formatNumber = (count: Maybe): string => (count == null ? "–" : whole.format(Math.round(count)));

/** Formats a number in a few characters: 12.4K. */
export const formatCompact = (count: number): string => short.format(count);

/** Formats a count with its noun: 1 user, 2 users. */
export const plural = (count: Maybe, noun: string): string =>
  `${formatNumber(count)} ${count === 1 ? noun : `${noun.replace(/([^aeiou])y$/, "$1ie")}s`}`;

/** Formats a share between 0 and 1 as a percentage. */
export function formatPercent(share: Maybe): string {
  if (share == null) return "–";
  const value = share * 100;
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

/** Formats a duration: 5 ms, 3.2 s, 4 min 10 s. */
export function formatDuration(ms: Maybe): string {
  if (ms == null) return "–";
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** Formats a time of the last 24 hours relative to now, and any other time as a date. */
export function formatRelativeTime(ts: number, now: number): string {
  const ago = now - ts;
  if (ago < 5000 && ago > -60_000) return "just now";
  if (ago < 0 || ago > 7 * 86_400_000)
    return (Math.abs(ago) > 300 * 86_400_000 ? yearTime : dayTime).format(ts);
  if (ago < 60_000) return `${Math.round(ago / 1000)} s ago`;
  if (ago < 3_600_000) return `${Math.round(ago / 60_000)} min ago`;
  if (ago < 86_400_000) return `${Math.round(ago / 3_600_000)} h ago`;
  return dayTime.format(ts);
}

/** Formats a time to the second, in the time zone of the browser. */
export const formatExactTime = (ts: number): string => exactTime.format(ts);

/** Formats a score or a metric with a fixed number of digits. Scores below -1e29 are treated as missing. */
export function formatDecimal(value: Maybe, digits = 3): string {
  return value == null || value < -1e29 ? "–" : value.toFixed(digits);
}

/** Formats a number of any size with four significant digits. */
export function toFourDigits(value: number): string {
  const few = Number(value.toPrecision(4));
  return String(Number.isFinite(few) ? few : value);
}

/** Returns the first characters of a text. The result never ends with half of a surrogate pair. */
export const prefixOf = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\ud800-\udbff]$/, "");

/** Shortens user-provided text, so it cannot fill the page. */
export function truncate(text: string, most = 120): string {
  return text.length > most ? `${prefixOf(text, most)}…` : text;
}

/** Formats an attribute value for people. */
export function displayValue(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return truncate(value.map(displayValue).join(", "));
  if (typeof value === "object") return truncate(JSON.stringify(value));
  return truncate(String(value));
}

/** Capitalizes a constant of the API: TRAINING becomes Training. */
export const capitalize = (word: string): string =>
  word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
