import {
  CheckFailure,
  type CheckRequest,
  CheckResponse,
  type ConfigureRequest,
  ConfigureResponse,
  type DiffRequest,
  type DiffResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import { parseJson } from "../../client/parse";
import {
  embeddedDirectory,
  environmentName,
  environmentWithout,
  readSettings,
  type SettingKey,
  type Settings,
  SettingsError,
  secretKeys,
  settingKeys,
} from "../../client/settings";
import { containsUnknown } from "../lifecycle/arguments";
import { bindingSetting, configurationKeys, unknownKeyError } from "../run/configuration";
import { masked } from "../run/masking";
import { pinnedModelsKey } from "../run/pinned";
import type { Properties } from "../run/state-entry";
import { isDefaultProvider } from "../run/urn";
import { diffResponse } from "./diff";
import { fromStruct, sealedLike, secretsIn, toStruct, unsealed, withSealed } from "./values";

/** Inputs that the engine adds to every provider. */
const engineInputs = ["version", "pluginDownloadURL", "pluginChecksums", "__internal"];

/** Configuration of this provider. */
export interface Configuration {
  /** Returns the value of a key. The key has no `recommender:` prefix. */
  get(key: string): string | undefined;
  /** Returns the settings. Throws if some are missing or contradict each other. */
  settings(): Settings;
  /** Secret values of the configuration. */
  readonly secrets: Properties;
  /**
   * Whether the program may switch back to dynamic resources. True if a binding is configured, which only TypeScript
   * programs do.
   */
  readonly maySwitchBack: boolean;
}

/** Checks the configuration of a provider: its keys, and whether it is complete and consistent. */
export function checkConfig(request: CheckRequest): CheckResponse {
  const raw = fromStruct(request.getNews());
  const inputs = unsealed(raw);
  const urn = request.getUrn();
  const failures = unknownKeys(inputs, urn);
  // In a preview, some values may be unknown.
  if (!containsUnknown(inputs)) failures.push(...contradictions(inputs, urn));
  const reply = new CheckResponse();
  // Credentials are secret even if the program does not mark them.
  reply.setInputs(toStruct(withSealed(sealedLike(inputs, raw), secretKeys)));
  reply.setFailuresList(failures.map(checkFailure));
  return reply;
}

/** Compares two configurations. A change never replaces a provider, because each resource stores its service. */
export function diffConfig(request: DiffRequest): DiffResponse {
  const olds = unsealed(fromStruct(request.getOldInputs() ?? request.getOlds()));
  const news = unsealed(fromStruct(request.getNews()));
  const keys = new Set([...Object.keys(olds), ...Object.keys(news)]);
  const changed = [...keys].filter((key) => JSON.stringify(olds[key]) !== JSON.stringify(news[key]));
  return diffResponse({ changes: changed.length > 0, changed, replaces: [] }, olds, news);
}

/** Applies the configuration to this process. The engine starts one process for each provider of a program. */
export function configurationOf(request: ConfigureRequest): Configuration {
  const raw = fromStruct(request.getArgs());
  const inputs = unsealed(raw);
  const stackConfig = parseJson(process.env.PULUMI_CONFIG ?? "") as Properties | undefined;
  // The engine passes no stack configuration to an explicit provider, but pinned models apply to the whole stack.
  const get = (key: string) =>
    textOf(inputs[key] ?? (key === pinnedModelsKey ? stackConfig?.[key] : undefined));
  const urn = request.getUrn();
  const environment = environmentFor(inputs, urn);
  const settingOf = settingsOf(get, environment, urn);
  // Remove the environment variables that inputs replace, so no other code reads them.
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  const maySwitchBack = bindingSetting(get) !== undefined;
  return { get, settings: () => readSettings(settingOf), secrets: secretsIn(raw), maySwitchBack };
}

/** Returns the capabilities of the plugin. */
export function configureResponse(): ConfigureResponse {
  const reply = new ConfigureResponse();
  reply.setAcceptsecrets(true);
  reply.setSupportspreview(true);
  return reply;
}

/**
 * Converts a fault to the engine's format. Names no property, because the engine would print its value, which may be
 * secret.
 */
export function checkFailure(reason: string): CheckFailure {
  const failure = new CheckFailure();
  failure.setReason(masked(reason));
  return failure;
}

/**
 * Returns the environment variables that apply to a provider. The environment takes precedence over the stack
 * configuration of the default provider. The inputs of an explicit provider take precedence over the environment, so a
 * program can use two services. For requirements on models and deployments, the stricter value applies.
 */
function environmentFor(inputs: Properties, urn: string | undefined): NodeJS.ProcessEnv {
  if (isDefault(urn)) return process.env;
  const given = settingKeys.filter((key) => inputs[key] != null);
  return {
    ...environmentWithout(given, process.env),
    ...strictestRequirements((key) => textOf(inputs[key]), process.env),
  };
}

/**
 * Returns the settings of a provider. An explicit provider without an address uses the address in the environment. That
 * address counts as the provider's own, so the provider's credentials are sent to it.
 */
function settingsOf(
  get: (key: SettingKey) => string | undefined,
  environment: NodeJS.ProcessEnv,
  urn: string | undefined,
): (key: SettingKey) => string | undefined {
  if (isDefault(urn)) return get;
  return (key) => get(key) ?? (key === "baseUrl" ? environment[environmentName(key)] : undefined);
}

function isDefault(urn: string | undefined): boolean {
  return urn !== undefined && isDefaultProvider(urn);
}

function unknownKeys(inputs: Properties, urn: string): string[] {
  return Object.keys(inputs)
    .filter((key) => !engineInputs.includes(key))
    .flatMap((key) => {
      const place = isDefault(urn)
        ? {
            known: configurationKeys,
            project: urn.split("::")[1],
            remedy: `Remove it with \`pulumi config rm recommender:${key}\`.`,
          }
        : // Only the stack selects the binding and pins models.
          { known: settingKeys, project: undefined, remedy: "Remove it from the provider's inputs." };
      return unknownKeyError(key, place) ?? [];
    });
}

function contradictions(inputs: Properties, urn: string): string[] {
  const baseUrl = textOf(inputs.baseUrl);
  // An API key in the environment belongs only to the address in the environment.
  if (!isDefault(urn) && baseUrl && inputs.apiKey == null && embeddedDirectory(baseUrl) === undefined) {
    return [
      "recommender:apiKey is not set, and RECOMMENDER_API_KEY is not sent to an address that the program sets. " +
        "Set apiKey as an input of the provider.",
    ];
  }
  try {
    const environment = environmentFor(inputs, urn);
    readSettings(
      settingsOf((key) => textOf(inputs[key]), environment, urn),
      environment,
    );
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const remedy = isDefault(urn) ? "" : " In a program, set it as an input of the provider.";
    return [error.message + remedy];
  }
}

/** Converts an input to text. SDKs send text, but YAML programs also send numbers and booleans. */
function textOf(value: unknown): string | undefined {
  if (value == null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Returns environment variables with the stricter of the requirements for models and deployments in the environment and
 * in a provider's inputs. `recommender promote` sets its requirements in the environment, and they apply to explicit
 * providers too.
 */
export function strictestRequirements(
  input: (key: SettingKey) => string | undefined,
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const variable = (key: SettingKey) => environment[environmentName(key)] || undefined;
  const [inputFloors, variableFloors] = [floorsIn(input("minQuality")), floorsIn(variable("minQuality"))];
  const isRolledBack = [input("rollback"), variable("rollback")].includes("true");
  return {
    ...(inputFloors &&
      variableFloors && {
        [environmentName("minQuality")]: JSON.stringify(highest(inputFloors, variableFloors)),
      }),
    ...(isRolledBack && { [environmentName("rollback")]: "true" }),
  };
}

/** Returns the higher of two minimum qualities for each model, and for `*`, which means all other models. */
function highest(one: Settings["minQuality"], other: Settings["minQuality"]): Settings["minQuality"] {
  const of = (floors: Settings["minQuality"], model: string) => floors[model] ?? floors["*"] ?? 0;
  const models = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...models].map((model) => [model, Math.max(of(one, model), of(other, model))]));
}

/** Parses minimum qualities. Undefined if they are missing or invalid; reading the settings reports invalid ones. */
function floorsIn(text: string | undefined): Settings["minQuality"] | undefined {
  if (text === undefined) return undefined;
  try {
    return readSettings((key) => (key === "minQuality" ? text : undefined), {}).minQuality;
  } catch {
    return undefined;
  }
}
