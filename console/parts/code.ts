import { prefixOf } from "../format";

/** Code that declares or does what a screen shows, by language. */
export type CodeSamples = Readonly<
  Partial<Record<"TypeScript" | "Python" | "YAML" | "CLI" | "curl", string>>
>;

/** A resource of a program: its type, its name, and its arguments with their TypeScript names. */
export interface Declaration {
  readonly type: string;
  /** The component that replaces `type` in languages other than TypeScript. */
  readonly component?: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Map arguments whose keys are chosen by users and must not be renamed. */
const userDefinedKeys = new Set(["attributeSchema", "algorithmParameters"]);

/** A resource with a unique name and a unique variable name. */
interface Named extends Declaration {
  readonly variable: string;
}

/** Returns programs that declare the resources, followed by remarks as comments. */
export function declarations(
  all: readonly Declaration[],
  remarks: readonly string[] = [],
): Pick<CodeSamples, "TypeScript" | "Python" | "YAML"> {
  const named = withUniqueNames(all);
  const remarked = (sign: string, more: readonly string[] = []) =>
    [...remarks, ...more].map((remark) => `${sign} ${remark}`);
  return {
    TypeScript: [...named.map(inTypeScript), ...remarked("//")].join("\n"),
    Python: [...named.map(inPython), ...remarked("#")].join("\n"),
    YAML: [...named.map(inYaml), ...remarked("#", named.flatMap(omittedInYaml))].join("\n"),
  };
}

/** Numbers repeated names, because a program and a stack need unique ones. */
function withUniqueNames(all: readonly Declaration[]): Named[] {
  const taken = new Set<string>();
  return all.map((one) => {
    const first = variableFor(one.name);
    let number = 1;
    const own = () => (number === 1 ? first : `${first}${number}`);
    while (taken.has(own().toLowerCase())) number++;
    taken.add(own().toLowerCase());
    return {
      ...one,
      variable: own(),
      name: number === 1 ? logicalName(one.name) : `${logicalName(one.name)} ${number}`,
    };
  });
}

/** Returns programs that call a function of the package and store its result in a variable. */
export function invocation(
  name: string,
  fn: string,
  args: Readonly<Record<string, unknown>>,
): Pick<CodeSamples, "TypeScript" | "Python" | "YAML"> {
  const given = entriesOf(args);
  return {
    TypeScript: `export const ${name} = recommender.${fn}Output({${given.map(([key, value]) => `\n  ${key}: ${typescriptLiteral(value)},`).join("")}${given.length > 0 ? "\n" : ""}});`,
    Python: `${snakeCase(name)} = recommender.${snakeCase(fn)}_output(${given.map(([key, value]) => `\n    ${snakeCase(key)}=${pythonLiteral(value, false)}`).join(",")})`,
    YAML: `variables:\n  ${name}:\n    fn::invoke:\n      function: recommender:${fn}\n      arguments:${given.length > 0 ? "" : " {}"}${given.map(([key, value]) => `\n        ${key}: ${yamlLiteral(value)}`).join("")}`,
  };
}

function inTypeScript({ type, name, variable, fields }: Named): string {
  const lines = entriesOf(fields).map(([key, value]) => `  ${key}: ${typescriptLiteral(value)},\n`);
  return `const ${variable} = new recommender.${type}(${quoted(name)}, {\n${lines.join("")}});`;
}

function inPython({ type, component = type, name, variable, fields }: Named): string {
  const lines = entriesOf(fields).map(
    ([key, value]) => `,\n    ${snakeCase(key)}=${pythonLiteral(value, userDefinedKeys.has(key))}`,
  );
  return `${snakeCase(variable)} = recommender.${component}(${quoted(name)}${lines.join("")})`;
}

function inYaml({ type, component = type, name, variable, fields }: Named): string {
  const told = entriesOf(fields).filter(([, value]) => !containsFunctionCall(value));
  const lines = told.map(([key, value]) => `\n      ${key}: ${yamlLiteral(value)}`);
  return `  ${variable}:\n    type: recommender:${component}\n    name: ${yamlLiteral(name)}\n    properties:${lines.join("")}`;
}

/** Whether a value contains a key that Pulumi's YAML would treat as a function call, at any depth. */
const containsFunctionCall = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.entries(value).some(([key, one]) => /^fn::/i.test(key) || containsFunctionCall(one));

function omittedInYaml({ name, fields }: Named): string[] {
  return entriesOf(fields)
    .filter(([, value]) => containsFunctionCall(value))
    .map(
      ([key]) =>
        `Left out: ${key} of ${quoted(name)}, because YAML programs treat keys that begin with fn:: as functions.`,
    );
}

/**
 * Returns a valid resource name. Pulumi does not allow `::` in names, and long names would fill every line of a
 * preview.
 */
const logicalName = (name: string) => prefixOf(name.replace(/:{2,}/g, ":"), 100);

const entriesOf = (fields: object) => Object.entries(fields).filter(([, value]) => value !== undefined);

function typescriptLiteral(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(typescriptLiteral).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const pairs = entriesOf(value).map(([key, one]) => `${objectKey(key)}: ${typescriptLiteral(one)}`);
  return `{ ${pairs.join(", ")} }`;
}

/** Returns an object key in TypeScript. A plain `__proto__` would set the prototype. */
const objectKey = (key: string): string =>
  key === "__proto__" ? `["${key}"]` : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);

/** Formats a value as a Python literal. API names become snake_case; names that users chose stay as they are. */
function pythonLiteral(value: unknown, isOwn: boolean): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map((one) => pythonLiteral(one, isOwn)).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  const pairs = entriesOf(value).map(
    ([key, one]) => `${quoted(isOwn ? key : snakeCase(key))}: ${pythonLiteral(one, isOwn)}`,
  );
  return `{${pairs.join(", ")}}`;
}

/**
 * Returns a value in YAML, as JSON. Dollar signs are doubled, because Pulumi reads `${…}` as a reference and `$$` as
 * `$`.
 */
const yamlLiteral = (value: unknown): string =>
  escapeInvisible(JSON.stringify(value).replaceAll("$", () => "$$"));

/** Converts a name from camelCase to snake_case. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Words that cannot be variable names in TypeScript, a Node module, Python or Pulumi's YAML. */
const reserved =
  "and arguments as assert async await break case catch class const continue debugger def default del delete do elif " +
  "else enum eval except export exports extends false finally for from function global if implements import in " +
  "instanceof interface is lambda let module new nonlocal not null or package pass private protected public pulumi " +
  "raise recommender require return static super switch this throw true try typeof undefined var void while with yield";
const isReserved = (name: string) => /^\d/.test(name) || reserved.split(" ").includes(name);

/** Turns a name into a variable name. */
function variableFor(name: string): string {
  const words = name.normalize("NFKD").match(/[A-Za-z0-9]+/g) ?? [];
  const [first = "thing", ...rest] = words.slice(0, 4);
  const joined = first.toLowerCase() + rest.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
  return (isReserved(joined) ? `the${joined[0]?.toUpperCase()}${joined.slice(1)}` : joined).slice(0, 40);
}

/** Quotes a text for TypeScript, Python and YAML. */
export const quoted = (text: string): string => escapeInvisible(JSON.stringify(text));

/** Characters that are invisible or change the direction of text. */
const invisible = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

/** Escapes invisible characters in JSON. */
export const escapeInvisible = (json: string): string =>
  json.replace(
    new RegExp(invisible, "gu"),
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Quotes a text as one shell word. Control characters are escaped, because a terminal would treat them as keys. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text;
  if (!invisible.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const bytes = (sign: string) =>
    [...new TextEncoder().encode(sign)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  // History expansion of bash acts on `!` even here, and older versions end the quotes at the first `'`.
  return `$'${text.replace(new RegExp(`${invisible.source}|['!\\\\]`, "gu"), bytes)}'`;
}

/** Returns a CLI command. Operands come last, after `--` if one looks like an option. */
export function command(name: string, options: Readonly<Record<string, unknown>>, ...operands: string[]) {
  const given = entriesOf(options).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => ` ${shellWord(`--${key}=${String(one)}`)}`),
  );
  const last = operands.map((one) => ` ${shellWord(one)}`).join("");
  const isPlain = operands.every((one) => !one.startsWith("-"));
  return `recommender ${name}${given.join("")}${isPlain ? "" : " --"}${last}`;
}

/** Returns a curl command for an API call. It reads the key from the environment, so the key is never shown. */
export function curl(url: string, path: string, body?: unknown): string {
  const scope = `/${path.split("?")[0]?.split("/").at(-1) ?? ""}`;
  const token = `TOKEN=$(curl -s ${shellWord(`${url}/oauth/token`)} -d grant_type=client_credentials \\
  -d client_id=me -d client_secret="$RECOMMENDER_API_KEY" -d scope=${shellWord(scope)} |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  const data =
    body === undefined
      ? ""
      : ` \\\n  -H 'Content-Type: application/json' -d ${shellWord(escapeInvisible(JSON.stringify(body)))}`;
  return `${token}\ncurl ${shellWord(url + path)} \\\n  -H "APIKey: $RECOMMENDER_API_KEY" -H "Authorization: Bearer $TOKEN"${data}`;
}
