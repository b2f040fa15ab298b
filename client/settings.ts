import { resolve } from "node:path";
import { z } from "zod";
import { tolerant } from "../contract";
import { issueText, withoutFullStop } from "../contract/messages";
import { isOnThisMachine, isSameAddress } from "./address";
import { isCiRunner, noAddressOnCi } from "./ci-runner";
import { fitsHeader, parseDuration, parseJson } from "./parse";

export { isEnabled } from "./parse";

const duration = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text, context) => {
      const value = parseDuration(text);
      if (value !== undefined) return value;
      context.addIssue(`expected a time such as 90m or 5h, received ${JSON.stringify(text)}`);
      return z.NEVER;
    });

const count = (fallback: number, unit: string) =>
  z.coerce.number(`expected ${unit}`).int().min(1, `expected ${unit}`).default(fallback);

const floor = z.number().min(0).max(1);
const qualityFloors = z.union([floor, z.record(z.string(), floor)]);

const flag = (fallback: "true" | "false") =>
  z
    .enum(["true", "false"], { error: "expected true or false" })
    .default(fallback)
    .transform((text) => text === "true");

/** Default address: an embedded service on this machine. */
export const defaultBaseUrl = "embedded:.recommender";

const baseUrlRule = "expected an address such as https://api.example.com, or embedded:DIR";

const url = z.url({ protocol: /^https?$/, error: "expected an address such as https://api.example.com" });

const credential = z
  .string()
  .refine(fitsHeader, "it contains characters that are not allowed in an HTTP header")
  .optional();

/** All settings. Environment variables override the stack configuration (`recommender:KEY`). */
const schema = z.object({
  /** Address of the service, or `embedded:DIR` for an embedded service with its data in DIR. */
  baseUrl: z.union([z.string().regex(/^embedded:./), url], { error: baseUrlRule }).default(defaultBaseUrl),
  /** The developer's key. */
  apiKey: credential,
  /** Access token for all scopes. */
  accessToken: credential,
  /** Command that prints a token for the scope in RECOMMENDER_SCOPE. */
  tokenCommand: z.string().optional(),
  /** Address of an OAuth 2 token endpoint for client credentials. */
  tokenUrl: url.optional(),
  /** Client id for the token endpoint. */
  clientId: z.string().optional(),
  /** Client secret for the token endpoint. */
  clientSecret: z.string().optional(),
  /** Interval between the first polls of a job, in milliseconds. It grows to 30 s. */
  jobPollMs: count(1000, "a whole number of milliseconds"),
  /** How long to wait for a training, such as 90m or 5h. */
  trainingTimeout: duration("8h"),
  /** How long to wait for a deployment, such as 90m or 5h. */
  deploymentTimeout: duration("3h"),
  /** How long to wait for a user query, such as 90m or 5h. */
  queryingTimeout: duration("3h"),
  /** How long to wait for a clustering, such as 90m or 5h. */
  clusteringTimeout: duration("3h"),
  /** How long to wait for recommendations for many users, such as 90m or 5h. */
  recommendationTimeout: duration("10h"),
  /** Additional values of job_status that mean that a job has failed, separated by commas. */
  failedJobStatuses: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((word) => word.trim().toUpperCase())
        .filter(Boolean),
    ),
  /** Minimum NDCG@20 of a trained model: one number, or one for each model by name. */
  minQuality: z
    .string()
    .default("{}")
    .transform((text, context) => {
      const floors = qualityFloors.safeParse(parseJson(text));
      if (floors.success) return typeof floors.data === "number" ? { "*": floors.data } : floors.data;
      context.addIssue('expected a number from 0 to 1, or one for each model as in {"weekly": 0.2}');
      return z.NEVER;
    }),
  /** Whether every deployment rolls back to the previous models if its check fails, not only those that declare it. */
  rollback: flag("false"),
  /** Whether to send the service the names of the stack and the resource that create an object or submit a job. */
  tellOrigin: flag("true"),
  /** Maximum number of connections to the service. */
  parallel: count(64, "a whole number of connections"),
});

/** Settings of one run. */
export type Settings = z.output<typeof schema>;

/** Key of a setting. */
export type SettingKey = keyof Settings;

/** Keys of all settings. */
export const settingKeys = Object.keys(schema.shape) as SettingKey[];

/** Keys of settings that must be encrypted. */
export const secretKeys = ["apiKey", "accessToken", "clientSecret"] as const satisfies SettingKey[];

const tokenKeys = ["accessToken", "tokenCommand", "tokenUrl"] as const;
const endpointKeys = ["clientId", "clientSecret"] as const;
const tokenParts: readonly SettingKey[] = [...tokenKeys, ...endpointKeys];

const environmentNames = new Map(
  settingKeys.map((key) => [
    key,
    `RECOMMENDER_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
  ]),
);

/** Returns the environment variable of a setting: RECOMMENDER_BASE_URL for `baseUrl`. */
export function environmentName(key: SettingKey): string {
  return environmentNames.get(key) as string;
}

/** Returns a warning if credentials would be sent to another machine without TLS. */
export function clearTextWarning(settings: Pick<Settings, "baseUrl" | "tokenUrl">): string | undefined {
  for (const key of ["baseUrl", "tokenUrl"] as const) {
    const address = settings[key];
    if (!address || !/^http:/i.test(address) || isOnThisMachine(address)) continue;
    const { origin } = new URL(address);
    return `recommender:${key} is at ${origin}, without TLS: credentials are sent unencrypted. Use an https: address.`;
  }
  return undefined;
}

/** The settings are incomplete or contradictory. The message shows the command that fixes them. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/**
 * Returns the environment without the variables that the given settings override. A given token source overrides all
 * token sources in the environment.
 */
export function environmentWithout(
  given: readonly SettingKey[],
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const replaced = tokenKeys.some((key) => given.includes(key)) ? [...tokenParts] : [];
  // Credentials in the environment belong to the address in the environment.
  if (given.includes("baseUrl")) replaced.push("apiKey", ...tokenParts);
  const names = [...given, ...replaced].map(environmentName);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

/**
 * Reads the settings from the environment and the stack. If both set an address and the addresses differ, the
 * credentials of the stack are ignored, because they belong to another service. On a CI runner, the address is
 * required.
 *
 * @param addressFrom source of the address, for errors. Default: the name of the environment variable
 */
export function readSettings(
  fromStack: (key: SettingKey) => string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
  addressFrom = environmentName("baseUrl"),
): Settings {
  const values: Partial<Record<SettingKey, string | undefined>> = {};
  const fromEnvironment = (key: SettingKey) => environment[environmentName(key)] || undefined;
  const address = fromEnvironment("baseUrl");
  const isOtherAddress = address !== undefined && !isSameAddress(address, fromStack("baseUrl"));
  // A token source in the environment replaces the stack's token source completely.
  // A token from one source and an endpoint from the other would contradict each other.
  const hasEnvironmentToken = tokenKeys.some(fromEnvironment);
  const usesStack = (key: SettingKey) =>
    tokenParts.includes(key) ? !hasEnvironmentToken && !isOtherAddress : key !== "apiKey" || !isOtherAddress;
  for (const key of settingKeys)
    values[key] = fromEnvironment(key) ?? (usesStack(key) ? fromStack(key) : undefined);
  if (values.baseUrl === undefined && isCiRunner(environment)) throw new SettingsError(noAddressOnCi);
  const read = schema.safeParse(values);
  if (!read.success) {
    const [issue] = read.error.issues;
    const key = issue.path[0] as SettingKey;
    throw new SettingsError(`recommender:${key}: ${issueText(issue)}. ${howToSet(key)}`);
  }
  const { apiKey, baseUrl } = read.data;
  const isWithheld = isOtherAddress && (fromStack("apiKey") || addressFrom !== environmentName("baseUrl"));
  if (isWithheld && !apiKey && embeddedDirectory(baseUrl) === undefined)
    throw new SettingsError(noCredentialsFor(baseUrl, addressFrom));
  const unused = endpointKeys.filter((key) => !read.data[key] && fromStack(key));
  checkCredentials(read.data, unused);
  return read.data;
}

function noCredentialsFor(baseUrl: string, addressFrom: string): string {
  const { origin } = new URL(baseUrl);
  const [address, key] = [environmentName("baseUrl"), environmentName("apiKey")];
  return (
    `${addressFrom} is ${origin}, but no credentials are set for it. Credentials of another address are not sent there. ` +
    `Set ${address} and ${key}.`
  );
}

/**
 * Throws if the credentials are incomplete or contradict each other.
 *
 * @param unused client credentials of the stack that are ignored, because the environment sets a token source or
 * another address
 */
function checkCredentials(settings: Settings, unused: readonly SettingKey[]): void {
  if (settings.baseUrl.startsWith("embedded:")) {
    const credential = ["apiKey" as const, ...tokenKeys].find((key) => settings[key]);
    if (!credential) return;
    throw new SettingsError(
      `recommender:${credential} is set, but recommender:baseUrl is ${settings.baseUrl}: an embedded service has its own ` +
        `key. Remove recommender:${credential}, or set the address of your service. ${howToSet("baseUrl")}`,
    );
  }
  if (!settings.apiKey) throw new SettingsError(`recommender:apiKey is not set. ${howToSet("apiKey")}`);
  const given = tokenKeys.filter((key) => settings[key]);
  if (given.length > 1) {
    const [first, second] = given;
    throw new SettingsError(
      `recommender:${first} and recommender:${second} contradict each other. Remove one of them, for example with ` +
        `\`pulumi config rm recommender:${second}\`, or by unsetting ${environmentName(second)}.`,
    );
  }
  if (given.length === 0 && settings.clientSecret)
    throw new SettingsError(
      `recommender:clientSecret needs recommender:tokenUrl. ${howToSet("tokenUrl")} ` +
        "For a client of the recommender service itself, set its secret as recommender:apiKey and remove clientSecret.",
    );
  if (!settings.tokenUrl) return;
  if (unused.length > 0) {
    const [endpoint, names] = [environmentName("tokenUrl"), unused.map(environmentName).join(" and ")];
    throw new SettingsError(
      `${endpoint} is set, but credentials in the stack configuration are not sent to that address. ` +
        `Set ${names} too, or unset ${endpoint}.`,
    );
  }
  for (const key of endpointKeys)
    if (!settings[key])
      throw new SettingsError(`recommender:tokenUrl needs recommender:${key}. ${howToSet(key)}`);
}

/** Whether a token source is configured. If not, only the service in this package can issue tokens, for its own key. */
export function hasTokenSource(settings: Settings): boolean {
  return embeddedDirectory(settings.baseUrl) !== undefined || tokenKeys.some((key) => settings[key]);
}

/** Error message if no token source is set and the service did not issue a token. */
export function noTokenSource(tried: string): string {
  return (
    `${withoutFullStop(tried)}. If the service does not issue tokens for its key, set recommender:accessToken ` +
    "(`pulumi config set --secret recommender:accessToken VALUE`), recommender:tokenCommand or recommender:tokenUrl."
  );
}

/** Error message if apiKey is the secret of a client but clientId is not set. */
export function clientIdMissing(key: string, whoami = "recommender whoami"): string {
  return (
    `${key} is the secret of a client (rc_…), but recommender:clientId is not set. ${howToSet("clientId")} ` +
    `Check with \`${whoami}\`.`
  );
}

function howToSet(key: SettingKey): string {
  // The engine requires --secret or --plaintext for keys whose name contains "token".
  const secret = secretKeys.some((name) => name === key)
    ? "--secret "
    : /token/i.test(key)
      ? "--plaintext "
      : "";
  return `Set it with \`pulumi config set ${secret}recommender:${key} VALUE\` or ${environmentName(key)}.`;
}

/** Returns the data directory of an embedded service, or undefined for the address of another service. */
export function embeddedDirectory(baseUrl: string): string | undefined {
  return /^embedded:(.*)$/s.exec(baseUrl)?.[1];
}

/** Resolves the data directory of an embedded service relative to the directory of the program. */
export function relativeToProgram(settings: Settings, programDirectory: string): Settings {
  const directory = embeddedDirectory(settings.baseUrl);
  if (directory === undefined) return settings;
  return { ...settings, baseUrl: `embedded:${resolve(programDirectory, directory)}` };
}

/**
 * Returns the schema to validate with before a call. Limits are checked only for an embedded service, because those of
 * other services are unknown.
 */
export function acceptedAt<T extends z.ZodType>(baseUrl: string, schema: T): T {
  return embeddedDirectory(baseUrl) === undefined ? tolerant(schema) : schema;
}
