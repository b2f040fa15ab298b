import { z } from "zod";

type Issue = z.core.$ZodIssue;

/** Kinds of values as people call them. */
const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** Units of what is too long or too short. */
const units: Readonly<Record<string, string>> = { string: "character", array: "entry" };

/** Bounds of the search for what was meant: a request may hold keys of any length by the thousand. */
const longestWord = 64;
const mostKeys = 5;

/** What the validator says by itself; any other message is a rule of our own and stands as it is. */
const defaultMessage = /^(Invalid|Too (small|big)|Unrecognized key)/;

/** What is wrong with a value, in our words; with the schema, what was probably meant. */
export function issueText(issue: Issue, schema?: z.ZodType): string {
  if (issue.code === "custom" || !defaultMessage.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type": {
      const [, received] = /received (\w+)/.exec(issue.message) ?? [];
      const expected = `expected ${kinds[issue.expected] ?? issue.expected}`;
      return received === "undefined" ? `missing; ${expected}` : `${expected}${receivedText(issue.input)}`;
    }
    case "too_small":
      return `expected ${boundText(issue.origin, issue.minimum, issue.inclusive ? "at least" : "more than", issue.path, schema)}`;
    case "too_big":
      return `expected ${boundText(issue.origin, issue.maximum, issue.inclusive ? "at most" : "less than", issue.path, schema)}`;
    case "unrecognized_keys":
      return issue.keys
        .slice(0, mostKeys)
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

/** A number that a parse with `reportInput` found in place of something else; JSON.parse rounds larger ones. */
function receivedText(input: unknown): string {
  return Number.isSafeInteger(input) ? `, received ${input}` : "";
}

/** All that is wrong, each with its place: `attributeSchema.age: expected NUMERICAL or CATEGORICAL`. */
export function issuesText(issues: readonly Issue[], schema?: z.ZodType): string {
  return issues
    .map((issue) => `${issue.path.length > 0 ? `${pathText(issue.path)}: ` : ""}${issueText(issue, schema)}`)
    .join("; ");
}

/** A place in a value, as in `queries[0].conditions[1].value`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
}

/** That a key is not known, and which one was probably meant. */
export function unknownKey(key: string, known: readonly string[]): string {
  const meant = closestMatch(key, known);
  return `${truncate(key)} is not known${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

/** The same as a sentence, with those that there are. */
export function unknownKeySentence(key: string, known: readonly string[]): string {
  return `${unknownKey(key, known).replace(/[^?]$/, "$&.")} They are ${known.join(", ")}.`;
}

/** A text that others gave, cut to a length that a message can bear. */
export function truncate(key: string): string {
  return key.length > longestWord ? `${key.slice(0, longestWord)}…` : key;
}

/** The word among those known that a mistyped one probably stands for. */
export function closestMatch(word: string, known: readonly string[]): string | undefined {
  if (word.length > longestWord) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, "");
  const isBeginning = (whole: string) => word.length > 2 && plain(whole).startsWith(plain(word));
  const ranked = known
    .map((candidate) => ({
      candidate,
      distance: isBeginning(candidate) ? 1 : editDistance(plain(word), plain(candidate)),
    }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(1, word.length / 3) ? best.candidate : undefined;
}

/** Letters to add, drop, replace or swap with their neighbour to get from one word to the other. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const above = rows[i - 1] as number[];
      const change = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swap =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? ((rows[i - 2] as number[])[j - 2] as number) + 1
          : change;
      row.push(Math.min((above[j] as number) + 1, (row[j - 1] as number) + 1, change, swap));
    }
    rows.push(row);
  }
  return (rows[a.length] as number[])[b.length] as number;
}

function boundText(
  origin: string,
  limit: number | bigint,
  relation: string,
  path: readonly PropertyKey[],
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

/** Of the forms that a value may have, what is wrong with the one that it comes closest to. */
function unionText(issue: Extract<Issue, { code: "invalid_union" }>, schema?: z.ZodType): string {
  if (issue.errors.length === 0) {
    const { options } = issue as { readonly options?: readonly unknown[] };
    return options ? `expected ${alternatives(options.map(String))}` : "expected one of its forms";
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

/** What a schema says of a place in a value: several schemas where the value has several forms. */
function schemasAt(schema: z.ZodType | undefined, path: readonly PropertyKey[]): z.ZodType[] {
  let found = schema ? forms(schema) : [];
  for (const part of path) {
    found = found.flatMap((one) => {
      const inner =
        one instanceof z.ZodObject
          ? one.shape[part as string]
          : one instanceof z.ZodArray
            ? one.element
            : undefined;
      return inner ? forms(inner as z.ZodType) : [];
    });
  }
  return found;
}

function forms(schema: z.ZodType): z.ZodType[] {
  const { innerType, in: input } = schema.def as { innerType?: z.ZodType; in?: z.ZodType };
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => forms(one as z.ZodType));
  const inner = innerType ?? input;
  return inner ? forms(inner) : [schema];
}
