import { environmentName, readSettings, type SettingKey, type Settings } from "../../client/settings";

type Floors = Settings["minQuality"];

/**
 * Returns the stricter requirements for models and deployments from the environment and the inputs of a provider, as
 * variables. `recommender promote` sets its requirements in the environment, and they apply to explicit providers too.
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

/** Returns the higher floor of each model in either argument, and of `*`, which means all other models. */
function highest(one: Floors, other: Floors): Floors {
  const of = (floors: Floors, model: string) => floors[model] ?? floors["*"] ?? 0;
  const models = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...models].map((model) => [model, Math.max(of(one, model), of(other, model))]));
}

/** Parses the floors. Undefined if there are none or the text is invalid, which reading the settings reports. */
function floorsIn(text: string | undefined): Floors | undefined {
  if (text === undefined) return undefined;
  try {
    return readSettings((key) => (key === "minQuality" ? text : undefined), {}).minQuality;
  } catch {
    return undefined;
  }
}
