import { resolve } from "node:path";
import { z } from "zod";
import { tolerant } from "../contract";
import { issueText } from "../contract/messages";
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
const isTrue = (text: "true" | "false") => text === "true";

/** The address that applies if none is given: a service on this machine. */
export const defaultBaseUrl = "embedded:.recommender";

const baseUrlRule = "expected an address such as https://api.example.com, or embedded:DIR";

const url = z.url({ protocol: /^https?$/, error: "expected an address such as https://api.example.com" });

const credential = z
  .string()
  .refine(fitsHeader, "no header of HTTP can carry it: it has a line break, or characters beyond Latin ones")
  .optional();

/** Everything that can be configured, under the namespace `recommender:` or in the environment, which wins. */
const schema = z.object({
  /** Address of the service, or `embedded:DIR` for the one that keeps its data in DIR. */
  baseUrl: z.union([z.string().regex(/^embedded:./), url], { error: baseUrlRule }).default(defaultBaseUrl),
  /** The developer's key. */
  apiKey: credential,
  /** One access token for every scope. */
  accessToken: credential,
  /** A command that prints a token for the scope in RECOMMENDER_SCOPE. */
  tokenCommand: z.string().optional(),
  /** Address of a token endpoint, OAuth 2 client credentials. */
  tokenUrl: url.optional(),
  /** The client's name at the token endpoint. */
  clientId: z.string().optional(),
  /** The client's secret at the token endpoint. */
  clientSecret: z.string().optional(),
  /** First pause between two looks at a job; later ones grow to 30 s. */
  jobPollMs: count(1000, "a whole number of milliseconds"),
  /** How long a training is waited for, such as 90m or 5h. */
  trainingTimeout: duration("8h"),
  /** How long a deployment is waited for, such as 90m or 5h. */
  deploymentTimeout: duration("3h"),
  /** How long a query about users is waited for, such as 90m or 5h. */
  queryingTimeout: duration("3h"),
  /** How long a grouping of users is waited for, such as 90m or 5h. */
  clusteringTimeout: duration("3h"),
  /** Words of job_status, beside FAILED and its like, that mean a job has failed. */
  failedJobStatuses: z
    .string()
    .default("")
    .transform((text) =>
      text
        .split(",")
        .map((word) => word.trim().toUpperCase())
        .filter(Boolean),
    ),
  /** NDCG@20 that a training must reach for its model to be taken: one number, or one for each model by name. */
  minQuality: z
    .string()
    .default("{}")
    .transform((text, context) => {
      const floors = qualityFloors.safeParse(parseJson(text));
      if (floors.success) return typeof floors.data === "number" ? { "*": floors.data } : floors.data;
      context.addIssue('expected a number from 0 to 1, or one for each model as in {"weekly": 0.2}');
      return z.NEVER;
    }),
  /** Whether a check that fails puts the former models back also where the deployment does not ask for it. */
  rollback: z.enum(["true", "false"], { error: "expected true or false" }).default("false").transform(isTrue),
  /** Whether the service is told which stack and resource submit a job. */
  tellOrigin: z
    .enum(["true", "false"], { error: "expected true or false" })
    .default("true")
    .transform(isTrue),
  /** Connections kept to the service at most. */
  parallel: count(64, "a whole number of connections"),
});

/** The configuration as it holds for one run. */
export type Settings = z.output<typeof schema>;

/** A key of the configuration. */
export type SettingKey = keyof Settings;

/** Every key of the configuration. */
export const settingKeys = Object.keys(schema.shape) as SettingKey[];

/** Keys that must be stored encrypted. */
export const secretKeys = ["apiKey", "accessToken", "clientSecret"] as const satisfies SettingKey[];

const tokenKeys = ["accessToken", "tokenCommand", "tokenUrl"] as const;
const endpointKeys = ["clientId", "clientSecret"] as const;

const environmentNames = new Map(
  settingKeys.map((key) => [
    key,
    `RECOMMENDER_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
  ]),
);

/** The environment variable of a key: `baseUrl` is RECOMMENDER_BASE_URL. */
export function environmentName(key: SettingKey): string {
  return environmentNames.get(key) as string;
}

/** Whether an address is that of a service on this machine. */
export function isOnThisMachine(address: string): boolean {
  if (address.startsWith("embedded:")) return true;
  const host = URL.canParse(address) ? new URL(address).hostname : "";
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);
}

/** A warning where credentials would go to another machine without encryption. */
export function clearTextWarning(settings: Pick<Settings, "baseUrl" | "tokenUrl">): string | undefined {
  for (const key of ["baseUrl", "tokenUrl"] as const) {
    const address = settings[key];
    if (!address || !/^http:/i.test(address) || isOnThisMachine(address)) continue;
    const { origin } = new URL(address);
    return `recommender:${key} is at ${origin}, without TLS: credentials are sent in the clear. Use an https: address.`;
  }
  return undefined;
}

/** The configuration is missing something or contradicts itself; the message shows the command that fixes it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** An environment without the variables that the given keys replace; one source of tokens replaces all others. */
export function environmentWithout(
  given: readonly SettingKey[],
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const ofTokens = [...tokenKeys, ...endpointKeys];
  const replaced: SettingKey[] = tokenKeys.some((key) => given.includes(key)) ? [...ofTokens] : [];
  // What the environment holds was given for the address that the environment holds.
  if (given.includes("baseUrl")) replaced.push("apiKey", ...ofTokens);
  const names = [...given, ...replaced].map(environmentName);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)));
}

/**
 * Reads the configuration, each key from the environment before the stack. If the environment names another address than
 * the stack, the credentials of the stack are not used: they would be sent to a service that they are not meant for.
 * On a CI runner an address must be given.
 *
 * @param addressFrom what the error calls the source of the address, if it is not the variable
 */
export function readSettings(
  fromStack: (key: SettingKey) => string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
  addressFrom = environmentName("baseUrl"),
): Settings {
  const values: Partial<Record<SettingKey, string | undefined>> = {};
  const fromEnvironment = (key: SettingKey) => environment[environmentName(key)] || undefined;
  const address = fromEnvironment("baseUrl");
  const isElsewhere = address !== undefined && !isSameAddress(address, fromStack("baseUrl"));
  // Credentials of the environment replace those of the stack as a whole: a token of one and an endpoint of the
  // other would contradict each other although each of the two is complete.
  const ownToken = tokenKeys.some(fromEnvironment);
  const isKept = (key: SettingKey) =>
    isTokenPart(key) ? !ownToken && !isElsewhere : key !== "apiKey" || !isElsewhere;
  for (const key of settingKeys)
    values[key] = fromEnvironment(key) ?? (isKept(key) ? fromStack(key) : undefined);
  if (values.baseUrl === undefined && isCiRunner(environment)) throw new SettingsError(noAddressOnCi);
  const read = schema.safeParse(values);
  if (!read.success) {
    const [issue] = read.error.issues;
    const key = issue.path[0] as SettingKey;
    throw new SettingsError(`recommender:${key}: ${issueText(issue)}. ${howToSet(key)}`);
  }
  const { apiKey, baseUrl } = read.data;
  const isWithheld = isElsewhere && (fromStack("apiKey") || addressFrom !== environmentName("baseUrl"));
  if (isWithheld && !apiKey && embeddedDirectory(baseUrl) === undefined)
    throw new SettingsError(noCredentialsFor(baseUrl, addressFrom));
  checkCredentials(read.data);
  return read.data;
}

/** Whether two texts name the same address. */
export function isSameAddress(one: string, other: string | undefined): boolean {
  return one.replace(/\/+$/, "") === other?.replace(/\/+$/, "");
}

function isTokenPart(key: SettingKey): boolean {
  return [...tokenKeys, ...endpointKeys].some((part) => part === key);
}

function noCredentialsFor(baseUrl: string, addressFrom: string): string {
  const { origin } = new URL(baseUrl);
  const [address, key] = [environmentName("baseUrl"), environmentName("apiKey")];
  return (
    `${addressFrom} is ${origin}, and no credentials are set for it: those of another address are not sent there. ` +
    `Set ${address} and ${key}.`
  );
}

function checkCredentials(settings: Settings): void {
  if (settings.baseUrl.startsWith("embedded:")) {
    const credential = ["apiKey" as const, ...tokenKeys].find((key) => settings[key]);
    if (!credential) return;
    throw new SettingsError(
      `recommender:${credential} is set, but recommender:baseUrl names no service that would take it: it is ` +
        `${settings.baseUrl}, which has a key of its own. ${howToSet("baseUrl")}`,
    );
  }
  if (!settings.apiKey) throw new SettingsError(`recommender:apiKey is not set. ${howToSet("apiKey")}`);
  const given = tokenKeys.filter((key) => settings[key]);
  if (given.length > 1) {
    const [first, second] = given;
    throw new SettingsError(
      `recommender:${first} and recommender:${second} contradict each other: set only one of them ` +
        `and remove the other with \`pulumi config rm recommender:${second}\`.`,
    );
  }
  for (const key of settings.tokenUrl ? endpointKeys : []) {
    if (!settings[key]) {
      throw new SettingsError(`recommender:tokenUrl needs recommender:${key}. ${howToSet(key)}`);
    }
  }
}

/** Whether it is settled where tokens come from; otherwise a service of this package gives them, and no other may. */
export function hasTokenSource(settings: Settings): boolean {
  return embeddedDirectory(settings.baseUrl) !== undefined || tokenKeys.some((key) => settings[key]);
}

/** The error if no source of tokens is set and the service, which was asked instead, gave none. */
export function noTokenSource(tried: string): string {
  return (
    `${tried.replace(/\.$/, "")}. If the service does not give tokens for its key, set recommender:accessToken ` +
    "(`pulumi config set --secret recommender:accessToken VALUE`), recommender:tokenCommand or recommender:tokenUrl."
  );
}

/** The error if the secret of a client is set as the key without the id of the client. */
export function clientIdMissing(key: string, whoami = "recommender whoami"): string {
  return (
    `${key} is the secret of a client (rc_…), but recommender:clientId is not set. ${howToSet("clientId")} ` +
    `Check with \`${whoami}\`.`
  );
}

function howToSet(key: SettingKey): string {
  // The engine takes values of some names for secrets, and asks to be told.
  const secret = secretKeys.some((name) => name === key)
    ? "--secret "
    : /token/i.test(key)
      ? "--plaintext "
      : "";
  return `Set it with \`pulumi config set ${secret}recommender:${key} VALUE\` or ${environmentName(key)}.`;
}

/** Prefix of the address of a service that keeps its data in a folder. */
const embeddedPrefix = "embedded:";

/** The folder of the embedded service that a configuration means; undefined for a service elsewhere. */
export function embeddedDirectory(baseUrl: string): string | undefined {
  return baseUrl.startsWith(embeddedPrefix) ? baseUrl.slice(embeddedPrefix.length) : undefined;
}

/** The settings of a program that runs in another folder: one with the embedded service is relative to that. */
export function relativeToProgram(settings: Settings, programFolder: string): Settings {
  const folder = embeddedDirectory(settings.baseUrl);
  if (folder === undefined) return settings;
  return { ...settings, baseUrl: embeddedPrefix + resolve(programFolder, folder) };
}

/** A schema as the service at an address accepts it, as far as that is known: only the embedded one's limits are. */
export function acceptedAt<T extends z.ZodType>(baseUrl: string, schema: T): T {
  return embeddedDirectory(baseUrl) === undefined ? tolerant(schema) : schema;
}
