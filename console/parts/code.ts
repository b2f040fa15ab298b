import { firstOf } from "../format";

/** What would declare or do the same as a screen shows, by language. */
export type Texts = Readonly<Partial<Record<"TypeScript" | "Python" | "YAML" | "CLI" | "curl", string>>>;

/** A resource of a program: its type, its name, and its arguments by their names in TypeScript. */
export interface Declared {
  readonly type: string;
  /** The component that other languages have in place of the type. */
  readonly component?: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Arguments whose keys are people's own names. */
const ownKeys = new Set(["attributeSchema", "algorithmParameters"]);

/** A resource under names that no other one has. */
interface Named extends Declared {
  readonly variable: string;
}

/** Resources as programs declare them, and after them remarks. */
export function declared(
  all: readonly Declared[],
  remarks: readonly string[] = [],
): Pick<Texts, "TypeScript" | "Python" | "YAML"> {
  const named = apart(all);
  const remarked = (sign: string, more: readonly string[] = []) =>
    [...remarks, ...more].map((remark) => `${sign} ${remark}`);
  return {
    TypeScript: [...named.map(inTypeScript), ...remarked("//")].join("\n"),
    Python: [...named.map(inPython), ...remarked("#")].join("\n"),
    YAML: [...named.map(inYaml), ...remarked("#", named.flatMap(callsInYaml))].join("\n"),
  };
}

/** Names of people's own may be alike; the second of a name gets a number, in the program and in the stack. */
function apart(all: readonly Declared[]): Named[] {
  const taken = new Set<string>();
  return all.map((one) => {
    const first = variable(one.name);
    let number = 1;
    const own = () => (number === 1 ? first : `${first}${number}`);
    while (taken.has(own().toLowerCase())) number++;
    taken.add(own().toLowerCase());
    return {
      ...one,
      variable: own(),
      name: number === 1 ? logical(one.name) : `${logical(one.name)} ${number}`,
    };
  });
}

/** What a program reads by a function of the package. */
export function invoked(
  name: string,
  fn: string,
  args: Readonly<Record<string, unknown>>,
): Pick<Texts, "TypeScript" | "Python" | "YAML"> {
  const given = entriesOf(args);
  return {
    TypeScript: `export const ${name} = recommender.${fn}Output({${given.map(([key, value]) => `\n  ${key}: ${literal(value)},`).join("")}${given.length > 0 ? "\n" : ""}});`,
    Python: `${snake(name)} = recommender.${snake(fn)}_output(${given.map(([key, value]) => `\n    ${snake(key)}=${pythonic(value, false)}`).join(",")})`,
    YAML: `variables:\n  ${name}:\n    fn::invoke:\n      function: recommender:${fn}\n      arguments:${given.length > 0 ? "" : " {}"}${given.map(([key, value]) => `\n        ${key}: ${yaml(value)}`).join("")}`,
  };
}

function inTypeScript({ type, name, variable, fields }: Named): string {
  const lines = entriesOf(fields).map(([key, value]) => `  ${key}: ${literal(value)},\n`);
  return `const ${variable} = new recommender.${type}(${quoted(name)}, {\n${lines.join("")}});`;
}

function inPython({ type, component = type, name, variable, fields }: Named): string {
  const lines = entriesOf(fields).map(
    ([key, value]) => `,\n    ${snake(key)}=${pythonic(value, ownKeys.has(key))}`,
  );
  return `${snake(variable)} = recommender.${component}(${quoted(name)}${lines.join("")})`;
}

function inYaml({ type, component = type, name, variable, fields }: Named): string {
  const told = entriesOf(fields).filter(([, value]) => !isCall(value));
  const lines = told.map(([key, value]) => `\n      ${key}: ${yaml(value)}`);
  return `  ${variable}:\n    type: recommender:${component}\n    name: ${yaml(name)}\n    properties:${lines.join("")}`;
}

/** What Pulumi would take for a call of a function of its own, wherever it stands. */
const isCall = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.entries(value).some(([key, one]) => /^fn::/i.test(key) || isCall(one));

function callsInYaml({ name, fields }: Named): string[] {
  return entriesOf(fields)
    .filter(([, value]) => isCall(value))
    .map(
      ([key]) => `Left out: ${key} of ${quoted(name)}; in YAML a key that begins with fn:: is a function.`,
    );
}

/** Pulumi keeps two colons for itself, and a name goes into every line of a preview. */
const logical = (name: string) => firstOf(name.replace(/:{2,}/g, ":"), 100);

const entriesOf = (fields: object) => Object.entries(fields).filter(([, value]) => value !== undefined);

function literal(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const pairs = entriesOf(value).map(([key, one]) => `${keyIn(key)}: ${literal(one)}`);
  return `{ ${pairs.join(", ")} }`;
}

/** A key of an object as TypeScript writes it; `__proto__` would be no key of its own. */
const keyIn = (key: string): string =>
  key === "__proto__" ? `["${key}"]` : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);

/** Names of the API are written with underscores; people's own stay as they are. */
function pythonic(value: unknown, isOwn: boolean): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map((one) => pythonic(one, isOwn)).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  const pairs = entriesOf(value).map(
    ([key, one]) => `${quoted(isOwn ? key : snake(key))}: ${pythonic(one, isOwn)}`,
  );
  return `{${pairs.join(", ")}}`;
}

/** JSON is YAML. Pulumi reads two dollar signs as one, and one before a brace as a reference. */
const yaml = (value: unknown): string => visible(JSON.stringify(value).replaceAll("$", () => "$$"));

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Words that TypeScript, a module of Node, Python or Pulumi's YAML keeps for itself, and what begins with a digit. */
const reserved =
  "and arguments as assert async await break case catch class const continue debugger def default del delete do elif " +
  "else enum eval except export exports extends false finally for from function global if implements import in " +
  "instanceof interface is lambda let module new nonlocal not null or package pass private protected public pulumi " +
  "raise recommender require return static super switch this throw true try typeof undefined var void while with yield";
const isReserved = (name: string) => /^\d/.test(name) || reserved.split(" ").includes(name);

/** A name as a variable of a program. */
function variable(name: string): string {
  const words = name.normalize("NFKD").match(/[A-Za-z0-9]+/g) ?? [];
  const [first = "thing", ...rest] = words.slice(0, 4);
  const joined = first.toLowerCase() + rest.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
  return (isReserved(joined) ? `the${joined[0]?.toUpperCase()}${joined.slice(1)}` : joined).slice(0, 40);
}

/** A text as TypeScript, Python and YAML write it. */
export const quoted = (text: string): string => visible(JSON.stringify(text));

/** Signs that cannot be seen, or turn the text around them. */
const unseen = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

/** JSON in which they are written by their numbers. */
export const visible = (json: string): string =>
  json.replace(new RegExp(unseen, "gu"), (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A text as a shell takes it for one word. What a terminal would take for a key is written by its bytes. */
export function word(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text;
  if (!unseen.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const bytes = (sign: string) =>
    [...new TextEncoder().encode(sign)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  // History, of an older bash too, looks for its sign and for the end of the quotes.
  return `$'${text.replace(new RegExp(`${unseen.source}|['!\\\\]`, "gu"), bytes)}'`;
}

/** The command of the CLI; operands come last, for they may look like options. */
export function command(name: string, options: Readonly<Record<string, unknown>>, ...operands: string[]) {
  const given = entriesOf(options).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => ` ${word(`--${key}=${String(one)}`)}`),
  );
  const last = operands.map((one) => ` ${word(one)}`).join("");
  const isPlain = operands.every((one) => !one.startsWith("-"));
  return `recommender ${name}${given.join("")}${isPlain ? "" : " --"}${last}`;
}

/** The call that curl makes; the key comes from the environment, and is never shown. */
export function curl(url: string, path: string, body?: unknown): string {
  const scope = `/${path.split("?")[0]?.split("/").at(-1) ?? ""}`;
  const token = `TOKEN=$(curl -s ${word(`${url}/oauth/token`)} -d grant_type=client_credentials \\
  -d client_id=me -d client_secret="$RECOMMENDER_API_KEY" -d scope=${word(scope)} |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  const data =
    body === undefined
      ? ""
      : ` \\\n  -H 'Content-Type: application/json' -d ${word(visible(JSON.stringify(body)))}`;
  return `${token}\ncurl ${word(url + path)} \\\n  -H "APIKey: $RECOMMENDER_API_KEY" -H "Authorization: Bearer $TOKEN"${data}`;
}
