import { parseJson } from "../../client/parse";
import { attributeHandling } from "../../contract/dataset";
import { currentSecrets, masked } from "./masking";
import type { Properties } from "./state-entry";
import { unknownValue } from "./unknown-value";

const maskText = "[secret]";

/** Shorter texts are a part of too many others: they are masked in quotes alone. */
const shortest = 4;

/** Shorter texts are masked only where they stand by themselves. */
const distinctive = 8;

/** Messages show at least so much of a text before they cut it off. */
const shownAtLeast = 32;

/** Arguments whose keys are names of fields and columns: only their values are masked. */
const keyedByFields = ["source", "mapping"];

/** Works for a resource that has secret arguments: whatever is logged or thrown meanwhile does not show their values. */
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

/** Whether an argument of the resource that is worked for is secret, or a part of it. */
export function isSecret(name: string): boolean {
  return currentSecrets.getStore()?.values.some((one) => one[name] !== undefined) ?? false;
}

/**
 * Whether a value shows a secret of the resource that is worked for, other than its own secret outputs: what the address
 * of a result consists of, as the service and the job, is no secret.
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

/** Takes secrets out of messages. */
function maskOf(secrets: readonly Properties[]): (message: string) => string {
  let index: Index | undefined;
  return (message) => {
    index ??= indexOf(new Set(secrets.flatMap(textsIn)));
    return textsAt(message, index).reduce(withoutText, message);
  };
}

function withoutSecrets(error: Error & { reasons?: string[] }): Error {
  const message = masked(error.message);
  if (message === error.message) return error;
  // Its stack and its cause would show what the message does not.
  Object.assign(error, { message, stack: "", cause: undefined });
  return error.reasons ? Object.assign(error, { reasons: error.reasons.map(masked) }) : error;
}

/** The texts by their beginnings, which are as long as they allow: secret records may have very many. */
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

/** The texts that may stand in a message, the longest first. */
function textsAt(message: string, index: Index): string[] {
  const found = new Set<string>();
  for (let at = 0; at < message.length; at++) {
    for (const length of beginnings)
      for (const text of index.get(message.slice(at, at + length)) ?? []) found.add(text);
  }
  return [...found].sort((a, b) => b.length - a.length);
}

function withoutText(message: string, text: string): string {
  if (!message.includes(text.slice(0, shownAtLeast))) return message;
  if (text.length >= distinctive) return withoutBeginnings(message, text);
  const plain = text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const alone = text.length < shortest ? `"${plain}"` : `(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])`;
  return message.replace(new RegExp(alone, "gu"), maskText);
}

/** Without a text, wherever it stands, as a whole or cut off. */
function withoutBeginnings(message: string, text: string): string {
  const beginning = text.slice(0, shownAtLeast);
  let rest = message;
  let done = "";
  for (let at = rest.indexOf(beginning); at >= 0; at = rest.indexOf(beginning)) {
    let end = beginning.length;
    while (end < text.length && rest[at + end] === text[end]) end++;
    done += rest.slice(0, at) + maskText;
    rest = rest.slice(at + end);
  }
  return done + rest;
}

function textsIn(secrets: Properties): string[] {
  const all = Object.entries(secrets).flatMap(([name, value]) =>
    textsOf(value, keyedByFields.includes(name)),
  );
  // What the API itself calls things betrays nothing, nor does the kind of an address.
  const plain = [...attributeHandling.options, "", "http:", "https:", "file:"];
  return all.filter((text) => !plain.includes(text));
}

/** What a message might show of a value: it, its members, and the cells of a text that is a table or a path. */
function textsOf(value: unknown, isKeyedByFields: boolean): string[] {
  if (typeof value === "object" && value !== null) {
    const keys = Array.isArray(value) || isKeyedByFields ? [] : Object.keys(value);
    return [...keys, ...Object.values(value).flatMap((inner) => textsOf(inner, isKeyedByFields))];
  }
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "string" || value === unknownValue) return [];
  return [value, ...asAddress(value)].flatMap((text) => [...formsOf(text), ...cellsOf(text)]);
}

/** What a message might show of a text that is the address of a file or of a service. */
function asAddress(text: string): string[] {
  if (!/^[a-z][\w+.-]*:\/\//i.test(text) || !URL.canParse(text)) return [];
  const { host, hostname, pathname, search, username, password } = new URL(text);
  return [host, hostname, pathname, search.slice(1), username, password].flatMap((part) => [
    part,
    decoded(part),
  ]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text as it is, and as JSON, addresses and forms have it. */
function formsOf(text: string): string[] {
  const inUrl = encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ""));
  const inAscii = text.replace(
    /[^ -~]|[&<>]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return [text, JSON.stringify(text).slice(1, -1), inAscii, inUrl, inUrl.replaceAll("%20", "+")];
}

function cellsOf(text: string): string[] {
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (parsed !== undefined) return textsOf(parsed, true);
  const lines = text.split(/[\r\n]+/);
  return lines.length > 1 ? lines.flatMap((line) => textsOf(line, true)) : text.split(/[,;|\t"/\\]+/);
}
