import ms, { type StringValue } from "ms";

/** The value that a text holds as JSON; undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The milliseconds of a time with its unit, as in 90m; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const value = /^\d+$/.test(text) ? undefined : ms(text as StringValue);
  return value !== undefined && value > 0 ? value : undefined;
}

/** Whether a header of HTTP can carry a text: one line of Latin letters and signs. */
export function fitsHeader(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Whether a variable of the environment says yes. */
export function isEnabled(value: string | undefined): boolean {
  return !/^(|0|false|no|off)$/i.test(value?.trim() ?? "");
}
