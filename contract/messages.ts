import { z } from "zod";

type Issue = z.core.$ZodIssue;

/** Names of types in messages. */
const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** Units for messages about values that are too long or too short. */
const units: Readonly<Record<string, string>> = { string: "character", array: "entry" };

/** Limits for suggestions in messages, because a request may contain thousands of keys of any length. */
const maxWordLength = 64;
const maxUnknownKeys = 5;

/** Matches zod's default messages. Other messages are written in the schema and stay unchanged. */
const defaultMessage = /^(Invalid|Too (small|big)|Unrecognized key)/;

/** Describes a validation issue. With the schema, the message also suggests the key that was probably meant. */
export function issueText(issue: Issue, schema?: z.ZodType): string {
  if (issue.code === "custom" || !defaultMessage.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type": {
      const [, received] = /received (\w+)/.exec(issue.message) ?? [];
      const expected = `expected ${typeNames[issue.expected] ?? issue.expected}`;
      return received === "undefined" ? `missing; ${expected}` : `${expected}${receivedText(issue.input)}`;
    }
    case "too_small":
      return `expected ${boundText(issue, issue.minimum, issue.inclusive ? "at least" : "more than", schema)}`;
    case "too_big":
      return `expected ${boundText(issue, issue.maximum, issue.inclusive ? "at most" : "less than", schema)}`;
    case "unrecognized_keys":
      return issue.keys
        .slice(0, maxUnknownKeys)
        .map((key) => unknownKey(key, keysAt(schema, issue.path)))
        .join("; ");
    case "invalid_value":
      return `expected ${alternatives(issue.values.map(String))}`;
    case "invalid_union":
      return unionText(issue, schema);
    case "invalid_format":
      return issue.format === "url"
        ? "expected an address such as https://api.example.com"
        : `expected ${issue.format === "regex" ? `text that matches ${issue.pattern}` : issue.format}`;
    default:
      return issue.message;
  }
}

/**
 * Returns the received value if it is a safe integer. JSON.parse has rounded larger numbers. Needs zod's `reportInput`.
 */
function receivedText(input: unknown): string {
  return Number.isSafeInteger(input) ? `, received ${input}` : "";
}

/** Describes all issues with their paths: `attributeSchema.age: expected NUMERICAL or CATEGORICAL`. */
export function issuesText(issues: readonly Issue[], schema?: z.ZodType): string {
  return issues
    .map((issue) => `${issue.path.length > 0 ? `${pathText(issue.path)}: ` : ""}${issueText(issue, schema)}`)
    .join("; ");
}

/** Formats a path, such as `queries[0].conditions[1].value`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
}

/** Reports an unknown key, and suggests the key that was probably meant. */
export function unknownKey(key: string, known: readonly string[]): string {
  const meant = closestMatch(key, known);
  return `${truncate(key)} is unknown${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

/** Reports an unknown key in a full sentence, and lists the known keys. */
export function unknownKeySentence(key: string, known: readonly string[], shown = known): string {
  return `${unknownKey(key, known).replace(/[^?]$/, "$&.")} Known: ${shown.join(", ")}.`;
}

/** Cuts a text to a maximum length, without splitting a surrogate pair, and appends "…". */
export function truncate(text: string, maxLength = maxWordLength): string {
  return text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** Removes the final punctuation of a text that becomes part of a sentence. */
export function withoutFullStop(text: string): string {
  return text.replace(/[.;:\s]+$/, "");
}

/** Returns the known word that a mistyped word probably means, or undefined. */
export function closestMatch(word: string, known: readonly string[]): string | undefined {
  if (word.length > maxWordLength) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");
  const isPrefix = (whole: string) => word.length > 2 && plain(whole).startsWith(plain(word));
  const ranked = known
    .map((candidate) => ({
      candidate,
      distance: isPrefix(candidate) ? 1 : editDistance(plain(word), plain(candidate)),
    }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(1, word.length / 3) ? best.candidate : undefined;
}

/** Returns how many insertions, deletions, replacements and swaps of adjacent letters turn one word into the other. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const above = rows[i - 1];
      const change = above[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? rows[i - 2][j - 2] + 1 : change;
      row.push(Math.min(above[j] + 1, row[j - 1] + 1, change, swap));
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}

function boundText(
  { origin, path }: { readonly origin: string; readonly path: readonly PropertyKey[] },
  limit: number | bigint,
  relation: string,
  schema: z.ZodType | undefined,
): string {
  const unit = units[origin];
  if (unit === "character" && relation === "at least" && limit === 1) return "text that is not empty";
  if (unit) {
    const plural = unit === "entry" ? "entries" : `${unit}s`;
    return `${relation} ${limit.toLocaleString("en")} ${limit === 1 ? unit : plural}`;
  }
  const [field] = schemasAt(schema, path);
  const isWhole = origin === "int" || (field instanceof z.ZodNumber && field.isInt);
  const amount = relation === "at least" || relation === "at most" ? `of ${relation}` : relation;
  return `a ${isWhole ? "whole " : ""}number ${amount} ${limit.toLocaleString("en", { maximumFractionDigits: 20 })}`;
}

/** Describes the issues of the union member that is closest to the value. */
function unionText(issue: Extract<Issue, { code: "invalid_union" }>, schema?: z.ZodType): string {
  if (issue.errors.length === 0) {
    const { options } = issue as { readonly options?: readonly unknown[] };
    return options ? `expected ${alternatives(options.map(String))}` : "expected another form";
  }
  const close = issue.errors.find((errors) => errors.every(({ path }) => path.length > 0));
  if (close) return issuesText(close as Issue[], schema);
  const words = issue.errors.map(([first]) => issueText(first as Issue, schema));
  const each = words.map((text) => text.replace(/^(missing; )?expected /, ""));
  const missing = words.every((text) => text.startsWith("missing; ")) ? "missing; " : "";
  return `${missing}expected ${alternatives([...new Set(each)])}`;
}

function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function keysAt(schema: z.ZodType | undefined, path: readonly PropertyKey[]): string[] {
  return schemasAt(schema, path).flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : []));
}

/** Returns the schemas that apply to a path in a value: several if the path leads into a union. */
function schemasAt(schema: z.ZodType | undefined, path: readonly PropertyKey[]): z.ZodType[] {
  let found = schema ? unionMembers(schema) : [];
  for (const part of path) {
    found = found.flatMap((one) => {
      const inner =
        one instanceof z.ZodObject
          ? one.shape[part as string]
          : one instanceof z.ZodArray
            ? one.element
            : undefined;
      return inner ? unionMembers(inner as z.ZodType) : [];
    });
  }
  return found;
}

function unionMembers(schema: z.ZodType): z.ZodType[] {
  const { innerType, in: input } = schema.def as { innerType?: z.ZodType; in?: z.ZodType };
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => unionMembers(one as z.ZodType));
  const inner = innerType ?? input;
  return inner ? unionMembers(inner) : [schema];
}
