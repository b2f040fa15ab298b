import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../client/parse";

/** Returns a parser for whole numbers from `min` to `max`. */
export function wholeNumber(min = 0, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`;
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number${range}.`);
  };
}

/** Parses a duration such as 90d, 12h or 30m to milliseconds. */
export function duration(text: string): number {
  const value = parseDuration(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError("Expected a duration with a unit, such as 90d, 12h or 30m.");
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 } as const;

/** Formats milliseconds as a duration that `duration` parses to the same value. */
export function durationText(ms: number): string {
  const [unit, size] = Object.entries(units).find(([, one]) => ms >= one && ms % one === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

/** Parses a percentage such as 5% to a share. Returns undefined if it is not valid. */
export function parsePercentage(text: string): number | undefined {
  return /^\d+(\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : undefined;
}

/** Parses a percentage such as 5% to a share. */
export function percentage(text: string): number {
  const share = parsePercentage(text);
  if (share !== undefined) return share;
  throw new InvalidArgumentError("Expected a percentage, such as 5%.");
}

/** Parses a share of at least 0. */
export function share(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0) return value;
  throw new InvalidArgumentError("Expected a number of at least 0, such as 0.9.");
}

/** Parses the address of a service. */
export function httpUrl(text: string): string {
  if (/^https?:\/\/[^/?#]/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("Expected an address, as in https://recommender.example.com.");
}

/** Parses the address of a PostgreSQL database. */
export function postgresUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError(
    "Expected the address of a PostgreSQL database, as in postgres://user@host/name.",
  );
}

/** Parses a comma-separated list. */
export function commaSeparated(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

/** Returns a parser for a repeatable `name=value` option. */
export function keyValue(expected: string) {
  return (text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const at = text.indexOf("=");
    if (at < 1) throw new InvalidArgumentError(`Expected ${expected}.`);
    return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
  };
}
