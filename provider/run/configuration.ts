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

/** Every key of a stack's configuration, under `recommender:`. */
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

/** Where a key stands. */
interface KeySource {
  readonly known: readonly string[];
  /** The name of the project. */
  readonly project: string | undefined;
  /** How it is taken out. */
  readonly remedy: string;
}

/** Why a key is refused, if it is: a mistyped one leaves a default in force, which for the address is a service on this machine. */
export function unknownKeyError(key: string, { known, project, remedy }: KeySource): string | undefined {
  if (known.includes(renamedKeys.get(key) ?? key)) return undefined;
  // The keys of a project of this name lie in the same namespace.
  if (project === "recommender" && closestMatch(key, known) === undefined) return undefined;
  const what = unknownKey(key, known).replace(/[^?]$/, "$&.");
  return `The configuration key recommender:${what} ${remedy} The keys are ${known.join(", ")}.`;
}

/** Says once what the address of the service means: credentials without TLS, or a service on this machine that is not there yet. */
export async function reportAddress(given: (key: SettingKey) => string | undefined): Promise<void> {
  try {
    const settings = readSettings(given);
    const warning = clearTextWarning(settings);
    if (warning) await log.warn(undefined, warning);
    if (given("baseUrl") !== undefined || process.env[environmentName("baseUrl")]) return;
    const folder = embeddedDirectory(settings.baseUrl);
    if (folder === undefined || existsSync(folder)) return;
    const words = `recommender:baseUrl is not set: a service of its own keeps its data in ${resolve(folder)}`;
    await log.info(undefined, words);
  } catch (error) {
    // The lifecycle says it beside a resource.
    if (!(error instanceof SettingsError)) throw error;
  }
}
