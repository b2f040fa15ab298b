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
import type { Fault } from "../lifecycle/protocol";
import { bindingSetting, configurationKeys, unknownKeyError } from "../run/configuration";
import { masked } from "../run/masking";
import { pinnedModelsKey } from "../run/pinned";
import type { Properties } from "../run/state-entry";
import { isDefaultProvider } from "../run/urn";
import { diffResponse } from "./diff";
import { strictestRequirements } from "./requirements";
import { fromStruct, sealedLike, secretsIn, toStruct, unsealed, withSealed } from "./values";

/** What the engine adds to the inputs of any provider. */
const ofEngine = ["version", "pluginDownloadURL", "pluginChecksums", "__internal"];

/** Where the configuration of this provider comes from. */
export interface Configuration {
  /** The text of a key, without `recommender:`. */
  get(key: string): string | undefined;
  /** What holds for a run; throws where something is missing or contradicts itself. */
  settings(): Settings;
  /** What of it is secret. */
  readonly secrets: Properties;
  /** Whether the program may switch back to dynamic resources. Only a TypeScript program sets a binding. */
  readonly maySwitchBack: boolean;
}

/** Checks what a provider is configured with: the keys, and that they are complete and agree. */
export function checkConfig(request: CheckRequest): CheckResponse {
  const raw = fromStruct(request.getNews());
  const inputs = unsealed(raw);
  const urn = request.getUrn();
  const failures = unknownKeys(inputs, urn);
  // A preview may not know all of it yet.
  if (!containsUnknown(inputs)) failures.push(...contradictions(inputs, urn));
  const reply = new CheckResponse();
  // Secret even where the program forgot to say so.
  reply.setInputs(toStruct(withSealed(sealedLike(inputs, raw), secretKeys)));
  reply.setFailuresList(failures.map(checkFailure));
  return reply;
}

/** Another configuration is never a reason to replace anything: each resource knows the service it belongs to. */
export function diffConfig(request: DiffRequest): DiffResponse {
  const olds = unsealed(fromStruct(request.getOldInputs() ?? request.getOlds()));
  const news = unsealed(fromStruct(request.getNews()));
  const keys = new Set([...Object.keys(olds), ...Object.keys(news)]);
  const changed = [...keys].filter((key) => JSON.stringify(olds[key]) !== JSON.stringify(news[key]));
  const difference = { changes: changed.length > 0, changed, replaces: [], deleteBeforeReplace: false };
  return diffResponse(difference, olds, news);
}

/** Takes the configuration of this process over: the engine starts one for each provider of a program. */
export function configurationOf(request: ConfigureRequest): Configuration {
  const raw = fromStruct(request.getArgs());
  const inputs = unsealed(raw);
  const ofStack = parseJson(process.env.PULUMI_CONFIG ?? "") as Properties | undefined;
  // The engine gives a provider of the program's own no configuration; but a pin holds for the whole stack.
  const get = (key: string) => textOf(inputs[key] ?? (key === pinnedModelsKey ? ofStack?.[key] : undefined));
  const urn = request.getUrn();
  const environment = environmentFor(inputs, urn);
  const settingOf = addressed(get, environment, urn);
  // Whatever else reads a variable must not see one that an input replaces.
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  const maySwitchBack = bindingSetting(get) !== undefined;
  return { get, settings: () => readSettings(settingOf), secrets: secretsIn(raw), maySwitchBack };
}

/** What the plugin can do. */
export function configureResponse(): ConfigureResponse {
  const reply = new ConfigureResponse();
  reply.setAcceptsecrets(true);
  reply.setSupportspreview(true);
  return reply;
}

/** Why something is refused, for the engine. */
export function checkFailure({ property, reason }: Fault): CheckFailure {
  const failure = new CheckFailure();
  failure.setProperty(property);
  failure.setReason(masked(reason));
  return failure;
}

/**
 * The variables that count beside the inputs. What a program gives an explicit provider wins over the environment, or
 * the program could not use two services; of what is demanded of models and deployments the stricter applies. The
 * default provider has the configuration of the stack, over which the environment wins.
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
 * The settings of a provider. One that the program declares without an address has the address of the environment: its
 * credentials are meant for that.
 */
function addressed(
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

function unknownKeys(inputs: Properties, urn: string): Fault[] {
  return Object.keys(inputs)
    .filter((key) => !ofEngine.includes(key))
    .flatMap((key) => {
      const place = isDefault(urn)
        ? {
            known: configurationKeys,
            project: urn.split("::")[1],
            remedy: `Take it out with \`pulumi config rm recommender:${key}\`.`,
          }
        : // Only the stack selects the binding and pins models.
          { known: settingKeys, project: undefined, remedy: "Take it out of the provider's inputs." };
      const reason = unknownKeyError(key, place);
      return reason ? [{ property: "", reason }] : [];
    });
}

function contradictions(inputs: Properties, urn: string): Fault[] {
  try {
    const environment = environmentFor(inputs, urn);
    readSettings(
      addressed((key) => textOf(inputs[key]), environment, urn),
      environment,
    );
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const remedy = isDefault(urn) ? "" : " In a program it is an input of the provider.";
    return [{ property: "", reason: error.message + remedy }];
  }
}

/** SDKs send texts; YAML sends what stands there. */
function textOf(value: unknown): string | undefined {
  if (value == null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
