/** Days of the week, as in `recommender.yaml`. */
export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** A day of the week. */
export type Weekday = (typeof weekdays)[number];

/** The local time at an instant. */
export interface LocalTime {
  /** Local date and time, as 2026-12-18T17:00. Later local times are greater as text. */
  readonly text: string;
  readonly weekday: Weekday;
  /** Local time of day, as 17:00. */
  readonly time: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether a text is the name of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the local time in a time zone, with its daylight saving time. */
export function localTimeAt(ms: number, timeZone: string): LocalTime {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  ) as Record<"year" | "month" | "day" | "hour" | "minute" | "weekday", string>;
  const time = `${parts.hour}:${parts.minute}`;
  const weekday = parts.weekday.slice(0, 3).toLowerCase() as Weekday;
  return { text: `${parts.year}-${parts.month}-${parts.day}T${time}`, weekday, time };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  formats.set(timeZone, format);
  return format;
}
