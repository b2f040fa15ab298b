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
import { carrierKey, log } from "./engine";
import { pinnedModelsKey } from "./pinned";

/** Every key of a stack's configuration, under `recommender:`. */
export const configurationKeys: readonly string[] = [...settingKeys, pinnedModelsKey, carrierKey];

/** Where a key stands. */
interface Place {
  readonly known: readonly string[];
  /** The name of the project. */
  readonly project: string | undefined;
  /** How it is taken out. */
  readonly remedy: string;
}

/** Why a key is refused, if it is: a mistyped one leaves a default in force, which for the address is a service on this machine. */
export function faultOfKey(key: string, { known, project, remedy }: Place): string | undefined {
  if (known.includes(key)) return undefined;
  // The keys of a project of this name lie in the same namespace.
  if (project === "recommender" && closestMatch(key, known) === undefined) return undefined;
  const what = unknownKey(key, known).replace(/[^?]$/, "$&.");
  return `The configuration key recommender:${what} ${remedy} The keys are ${known.join(", ")}.`;
}

/** Says once what the address of the service means: credentials without TLS, or a service on this machine that is not there yet. */
export async function tellDoubts(given: (key: SettingKey) => string | undefined): Promise<void> {
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
