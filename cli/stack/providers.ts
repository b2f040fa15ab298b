import {
  environmentWithout,
  readSettings,
  relativeToProgram,
  type Settings,
  settingKeys,
} from "../../client/settings";
import { isDefaultProvider, partsOf } from "../../provider/run/urn";
import type { OpenStack, StateResource } from "./open";

const secretKey = "4dabf18193072939515e22adb298388d";

/** The URN of the provider that the program gives a resource; undefined if the stack's configuration applies. */
export function explicitProviderOf({ provider }: Pick<StateResource, "provider">): string | undefined {
  const urn = provider?.replace(/::[^:]*$/, "");
  if (urn === undefined || partsOf(urn).type !== "pulumi:providers:recommender") return undefined;
  return isDefaultProvider(urn) ? undefined : urn;
}

/**
 * The settings of the provider that the program gives a resource, as the provider reads them; undefined if the stack's
 * configuration applies. The state must hold its secrets in plain text.
 */
export function providerSettings(
  resource: Pick<StateResource, "provider" | "urn">,
  resources: readonly StateResource[],
  { environment, programDirectory }: Pick<OpenStack, "environment" | "programDirectory">,
): Settings | undefined {
  const urn = explicitProviderOf(resource);
  if (urn === undefined) return undefined;
  const inputs = resources.find((row) => row.urn === urn && !row.delete)?.inputs;
  if (!inputs) throw new Error(`Provider ${partsOf(urn).name} of ${resource.urn} is not in the state.`);
  const given = settingKeys.filter((key) => inputs[key] != null);
  const settings = readSettings((key) => textOf(inputs[key]), environmentWithout(given, environment));
  return relativeToProgram(settings, programDirectory);
}

/** The text of an input, which may be secret. */
function textOf(value: unknown): string | undefined {
  if (value == null) return undefined;
  if (typeof value === "string") return value;
  const { plaintext } = value as { plaintext?: unknown };
  if (typeof value === "object" && secretKey in value && typeof plaintext === "string")
    return textOf(JSON.parse(plaintext));
  return JSON.stringify(value);
}
