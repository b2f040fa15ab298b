import ms, { type StringValue } from "ms";

/** Parses JSON. Returns undefined if the text is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Decodes percent-encoded text. Returns the text unchanged if it is not valid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns a pattern for a regular expression that matches exactly this text. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Parses a duration with a unit, such as 90m, to milliseconds. Returns undefined if it is not valid. */
export function parseDuration(text: string): number | undefined {
  const value = /^\d+$/.test(text) ? undefined : ms(text as StringValue);
  return value !== undefined && value > 0 ? value : undefined;
}

/** Whether a text is allowed in an HTTP header: Latin-1 without control characters other than tab. */
export function fitsHeader(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Whether an environment variable is set to a value other than 0, false, no or off. */
export function isEnabled(value: string | undefined): boolean {
  return !/^(|0|false|no|off)$/i.test(value?.trim() ?? "");
}
