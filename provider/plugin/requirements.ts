import { environmentName, readSettings, type SettingKey, type Settings } from "../../client/settings";

type Floors = Settings["minQuality"];

/**
 * What the environment and the inputs of a provider demand of models and deployments, the stricter of both, as variables.
 * `recommender promote` demands it through the environment, of the providers in a program too.
 */
export function strictestRequirements(
  input: (key: SettingKey) => string | undefined,
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const variable = (key: SettingKey) => environment[environmentName(key)] || undefined;
  const [floors, demanded] = [floorsIn(input("minQuality")), floorsIn(variable("minQuality"))];
  const isRolledBack = [input("rollback"), variable("rollback")].includes("true");
  return {
    ...(floors && demanded && { [environmentName("minQuality")]: JSON.stringify(highest(floors, demanded)) }),
    ...(isRolledBack && { [environmentName("rollback")]: "true" }),
  };
}

/** The floor of each model that either names, and `*` for all others. */
function highest(one: Floors, other: Floors): Floors {
  const of = (floors: Floors, model: string) => floors[model] ?? floors["*"] ?? 0;
  const models = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...models].map((model) => [model, Math.max(of(one, model), of(other, model))]));
}

/** @returns undefined if nothing is demanded, or if the text is wrong, which reading the settings reports. */
function floorsIn(text: string | undefined): Floors | undefined {
  if (text === undefined) return undefined;
  try {
    return readSettings((key) => (key === "minQuality" ? text : undefined), {}).minQuality;
  } catch {
    return undefined;
  }
}
