import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  clearTextWarning,
  embeddedDirectory,
  environmentName,
  readSettings,
  type SettingKey,
  SettingsError,
  settingKeys,
} from "../../client/settings";
import { closestMatch, unknownKey } from "../../contract/messages";
import { log } from "./engine";
import { pinnedModelsKey } from "./pinned";

/** All keys of a stack's configuration, without the prefix `recommender:`. */
export const configurationKeys: readonly string[] = [...settingKeys, pinnedModelsKey, "binding"];

/** Deprecated keys that still work, and their replacements. */
const renamedKeys: ReadonlyMap<string, string> = new Map([["carrier", "binding"]]);

/** Environment variable or configuration key that selects the binding of a stack. */
interface BindingSetting {
  readonly name: string;
  readonly value: string | undefined;
  /** New name, if this one is deprecated. */
  readonly replacement?: string;
}

/** Returns the setting that selects the binding, if there is one. The environment takes precedence. */
export function bindingSetting(config: (key: string) => string | undefined): BindingSetting | undefined {
  const { RECOMMENDER_BINDING, RECOMMENDER_CARRIER } = process.env;
  const settings: readonly BindingSetting[] = [
    { name: "RECOMMENDER_BINDING", value: RECOMMENDER_BINDING },
    { name: "RECOMMENDER_CARRIER", value: RECOMMENDER_CARRIER, replacement: "RECOMMENDER_BINDING" },
    { name: "recommender:binding", value: config("binding") },
    { name: "recommender:carrier", value: config("carrier"), replacement: "recommender:binding" },
  ];
  return settings.find(({ value }) => value);
}

/** Source of a configuration key: the stack's configuration or a provider's inputs. */
interface KeySource {
  readonly known: readonly string[];
  /** Name of the Pulumi project. */
  readonly project: string | undefined;
  /** Instruction for removing the key. */
  readonly remedy: string;
}

/** Returns an error for an unknown key. Ignoring a mistyped `baseUrl` would start an embedded service instead. */
export function unknownKeyError(key: string, { known, project, remedy }: KeySource): string | undefined {
  if (known.includes(renamedKeys.get(key) ?? key)) return undefined;
  // A project with the name `recommender` may have its own keys in the same namespace.
  if (project === "recommender" && closestMatch(key, known) === undefined) return undefined;
  const what = unknownKey(key, known).replace(/[^?]$/, "$&.");
  return `The configuration key recommender:${what} ${remedy} The keys are ${known.join(", ")}.`;
}

/**
 * Warns about credentials that are sent without TLS, and reports if the default address starts a new embedded service.
 */
export async function reportAddress(given: (key: SettingKey) => string | undefined): Promise<void> {
  try {
    const settings = readSettings(given);
    const warning = clearTextWarning(settings);
    if (warning) await log.warn(undefined, warning);
    if (given("baseUrl") !== undefined || process.env[environmentName("baseUrl")]) return;
    const directory = embeddedDirectory(settings.baseUrl);
    if (directory === undefined || existsSync(directory)) return;
    const data = `an embedded service stores its data in ${resolve(directory)}`;
    await log.info(undefined, `recommender:baseUrl is not set, so ${data}`);
  } catch (error) {
    // The first resource reports the invalid setting.
    if (!(error instanceof SettingsError)) throw error;
  }
}
