import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../client/parse";

/** Reads a whole number of an option, within bounds. */
export function wholeNumber(least = 0, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`;
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Expected a whole number${range}.`);
  };
}

/** Reads a time such as 90d, 12h or 30m of an option, in milliseconds. */
export function duration(text: string): number {
  const value = parseDuration(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError("Expected a time with its unit, as in 90d, 12h or 30m.");
}

/** Reads the address of a service. */
export function httpUrl(text: string): string {
  if (/^https?:\/\/[^/?#]/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("Expected an address, as in https://recommender.example.com.");
}

/** Reads the address of a PostgreSQL database. */
export function postgresUrl(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("Expected the address of a database, as in postgres://user@host/name.");
}

/** Reads a list that is separated by commas. */
export function commaSeparated(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

/** Reads one `name=value` more. */
export function keyValue(what: string) {
  return (text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> => {
    const at = text.indexOf("=");
    if (at < 1) throw new InvalidArgumentError(`Expected ${what}.`);
    return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
  };
}
