import { mask, maskEncoded } from "../../client/encoded-secrets";
import { parseJson, percentDecoded } from "../../client/parse";
import { attributeHandling } from "../../contract/dataset";
import { functions, macros, methods } from "../../expressions/functions";
import { currentSecrets, masked } from "./masking";
import type { Properties } from "./state-entry";
import { unknownValue } from "./unknown-value";

// Masks secrets in messages. A message may contain a secret verbatim, escaped (JSON, URL), truncated, or only a part of
// it, such as one cell of a table or one segment of a path. `textsIn` lists these texts for each secret, `candidatesIn`
// finds those that may occur in a message, and `maskText` replaces them. HTML and base64 can write one text in many
// ways, so `maskEncoded` decodes the message instead.

/** Minimum length of texts that are masked without quotes. Shorter texts occur in too many other words. */
const shortest = 4;

/** Minimum length of texts that are masked inside words. Shorter texts are masked only as whole words. */
const distinctive = 8;

/** Messages truncate texts after at least this many characters, so a longer secret is recognized by its beginning. */
const shownAtLeast = 32;

/** Arguments whose keys are field or column names. Only their values are masked. */
const keyedByFields = ["source", "mapping", "rules", "check"];

/** Arguments with expressions. An error about an expression quotes the name or the text that is wrong. */
const withExpressions = ["rules", "check"];

/** Words of the language of expressions. They reveal nothing. */
const expressionWords = [
  "item",
  "user",
  "true",
  "false",
  "null",
  ...functions.keys(),
  ...methods.keys(),
  ...macros.keys(),
];

/** Runs `work` with the given secrets masked in everything that it logs or throws. */
export async function maskingSecrets<T>(secrets: readonly Properties[], work: () => Promise<T>): Promise<T> {
  if (secrets.every((one) => Object.keys(one).length === 0)) return work();
  const values = [...(currentSecrets.getStore()?.values ?? []), ...secrets];
  return currentSecrets.run({ values, mask: maskOf(values) }, async () => {
    try {
      return await work();
    } catch (error) {
      throw withoutSecrets(error as Error);
    }
  });
}

/** Whether an argument of the current resource is secret, in whole or in part. */
export function isSecret(name: string): boolean {
  return currentSecrets.getStore()?.values.some((one) => one[name] !== undefined) ?? false;
}

/**
 * Whether a value contains a secret of the current resource. Secret outputs do not count: a secret download address
 * contains the service and the job, which are not secret.
 */
export function containsSecret(value: unknown, secretOutputs: readonly string[]): boolean {
  if (typeof value !== "string" || masked(value) === value) return false;
  if (!secretOutputs.some(isSecret)) return true;
  const others = currentSecrets.getStore()?.values.map((one) => without(one, secretOutputs)) ?? [];
  return maskOf(others)(value) !== value;
}

function without(properties: Properties, names: readonly string[]): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
}

/** Returns a function that masks secrets in a message. */
function maskOf(secrets: readonly Properties[]): (message: string) => string {
  let index: Index | undefined;
  return (message) => {
    index ??= indexOf(new Set(secrets.flatMap(textsIn)));
    const texts = index;
    return maskEncoded(message, (text) => candidatesIn(text, texts).reduce(maskText, text));
  };
}

function withoutSecrets(error: Error & { reasons?: string[] }): Error {
  const message = masked(error.message);
  if (message === error.message) return error;
  // The stack trace and the cause contain the unmasked message.
  Object.assign(error, { message, stack: "", cause: undefined });
  return error.reasons ? Object.assign(error, { reasons: error.reasons.map(masked) }) : error;
}

/**
 * Texts by their longest indexed beginning. Secret records may contain very many texts, so a message is searched by
 * lookups at each position.
 */
type Index = ReadonlyMap<string, readonly string[]>;

const beginnings = [1, shortest, distinctive, 16, shownAtLeast];

function indexOf(texts: Iterable<string>): Index {
  const index = new Map<string, string[]>();
  for (const text of texts) {
    const beginning = text.slice(
      0,
      beginnings.findLast((length) => length <= text.length),
    );
    const others = index.get(beginning);
    if (others) others.push(text);
    else index.set(beginning, [text]);
  }
  return index;
}

/** Returns the indexed texts that may occur in a message, longest first. */
function candidatesIn(message: string, index: Index): string[] {
  const found = new Set<string>();
  for (let at = 0; at < message.length; at++) {
    for (const length of beginnings)
      for (const text of index.get(message.slice(at, at + length)) ?? []) found.add(text);
  }
  return [...found].sort((a, b) => b.length - a.length);
}

function maskText(message: string, text: string): string {
  if (!message.includes(text.slice(0, shownAtLeast))) return message;
  if (text.length >= distinctive) return maskPrefixes(message, text);
  const plain = text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const pattern = text.length < shortest ? `"${plain}"` : `(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])`;
  return message.replace(new RegExp(pattern, "gu"), mask);
}

/** Masks a text everywhere in a message, even if it is truncated. */
function maskPrefixes(message: string, text: string): string {
  const beginning = text.slice(0, shownAtLeast);
  let rest = message;
  let done = "";
  for (let at = rest.indexOf(beginning); at >= 0; at = rest.indexOf(beginning)) {
    let end = beginning.length;
    while (end < text.length && rest[at + end] === text[end]) end++;
    done += rest.slice(0, at) + mask;
    rest = rest.slice(at + end);
  }
  return done + rest;
}

/** Returns the texts by which a message could reveal the secrets. */
function textsIn(secrets: Properties): string[] {
  const all = Object.entries(secrets).flatMap(([name, value]) => [
    ...textsOf(value, keyedByFields.includes(name)),
    ...(withExpressions.includes(name) ? stringsIn(value).flatMap(expressionParts) : []),
  ]);
  // Values of the API itself and URL schemes reveal nothing.
  const plain = [...attributeHandling.options, "", "http:", "https:", "file:"];
  return all.filter((text) => !plain.includes(text));
}

/** Returns the texts in a value: the value itself, its members, the cells of a table, and the segments of a path. */
function textsOf(value: unknown, isKeyedByFields: boolean): string[] {
  if (typeof value === "object" && value !== null) {
    const keys = Array.isArray(value) || isKeyedByFields ? [] : Object.keys(value);
    return [...keys, ...Object.values(value).flatMap((inner) => textsOf(inner, isKeyedByFields))];
  }
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "string" || value === unknownValue) return [];
  return [value, ...urlParts(value)].flatMap((text) => [...formsOf(text), ...cellsOf(text)]);
}

/** Returns the parts of a URL, or nothing if the text is not a URL. */
function urlParts(text: string): string[] {
  if (!/^[a-z][\w+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { host, hostname, pathname, search, username, password } = new URL(text);
  return [host, hostname, pathname, search.slice(1), username, password].flatMap((part) => [
    part,
    percentDecoded(part),
  ]);
}

/** Returns a text verbatim and as it is escaped in JSON, URLs and forms. */
function formsOf(text: string): string[] {
  const inUrl = encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ""));
  const inAscii = text.replace(
    /[^ -~]|[&<>]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [text, JSON.stringify(text).slice(1, -1), inAscii, inUrl, inUrl.replaceAll("%20", "+")];
}

/** Returns the members of a JSON text, the cells of a table, or the segments of a path. */
function cellsOf(text: string): string[] {
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (parsed !== undefined) return textsOf(parsed, true);
  const lines = text.split(/[\r\n]+/);
  return lines.length > 1 ? lines.flatMap((line) => textsOf(line, true)) : text.split(/[,;|\t"/\\]+/);
}

/** Returns all texts in a value. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** Returns the parts of an expression that errors can quote: texts, names, and attributes such as `item.price`. */
function expressionParts(expression: string): string[] {
  const found = expression.matchAll(/"([^"]*)"|'([^']*)'|[\p{L}_][\p{L}\p{N}_.]*/gu);
  return [...found].flatMap(([path, ...quoted]) => {
    const text = quoted.find((one) => one !== undefined);
    if (text !== undefined) return text;
    const [first = "", ...names] = path.split(".");
    const attribute = names[0] ? [`${first}.${names[0]}`] : [];
    return [...attribute, first, ...names].filter((word) => !expressionWords.includes(word));
  });
}
