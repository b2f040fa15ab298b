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

/** A number with its thousands apart. */
export const grouped = (count: number): string => whole.format(Math.round(count));

/** A number in few characters: 12.4K. */
export const compact = (count: number): string => short.format(count);

/** A count with its noun. */
export const counted = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A share as percent. */
export function percent(share: number | null | undefined): string {
  if (share == null) return "–";
  const value = share * 100;
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

/** How long something takes. */
export function lasting(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** A time as seen from now. */
export function fromNow(ts: number, now: number): string {
  const ago = now - ts;
  if (ago < 5000 && ago > -60_000) return "just now";
  if (ago < 0 || ago > 7 * 86_400_000)
    return (Math.abs(ago) > 300 * 86_400_000 ? yearTime : dayTime).format(ts);
  if (ago < 60_000) return `${Math.round(ago / 1000)} s ago`;
  if (ago < 3_600_000) return `${Math.round(ago / 60_000)} min ago`;
  if (ago < 86_400_000) return `${Math.round(ago / 3_600_000)} h ago`;
  return dayTime.format(ts);
}

/** A time to the second, in the reader's own zone. */
export const exact = (ts: number): string => exactTime.format(ts);

/** The day of a time. */
export const day = (ts: number): string => yearTime.format(ts);

/** A score or a measure of quality. */
export function measure(value: number | null | undefined, digits = 3): string {
  return value == null || value < -1e29 ? "–" : value.toFixed(digits);
}

/** A number of any size, to four digits. */
export function rounded(value: number): string {
  const few = Number(value.toPrecision(4));
  return String(Number.isFinite(few) ? few : value);
}

/** The beginning of a text, without half a sign at its end. */
export const firstOf = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\ud800-\udbff]$/, "");

/** A text of somebody else's, cut so that it cannot fill the page. */
export function cut(text: string, most = 120): string {
  return text.length > most ? `${firstOf(text, most)}…` : text;
}

/** A value of an attribute as people read it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return cut(value.map(shown).join(", "));
  if (typeof value === "object") return cut(JSON.stringify(value));
  return cut(String(value));
}

/** A word of the service with its first letter large: TRAINING is Training. */
export const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
