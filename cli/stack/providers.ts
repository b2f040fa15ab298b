import {
  environmentWithout,
  readSettings,
  relativeToProgram,
  type Settings,
  settingKeys,
} from "../../client/settings";
import { isSealed } from "../../provider/run/sealed-value";
import { isDefaultProvider, partsOf } from "../../provider/run/urn";
import type { OpenStack, StateResource } from "./open";

/** Returns the URN of a resource's explicit provider, or undefined if the stack's configuration applies. */
export function explicitProviderOf({ provider }: Pick<StateResource, "provider">): string | undefined {
  const urn = provider?.replace(/::[^:]*$/, "");
  if (urn === undefined || partsOf(urn).type !== "pulumi:providers:recommender") return undefined;
  return isDefaultProvider(urn) ? undefined : urn;
}

/** Returns the settings of a resource's explicit provider, if any. `resources` must contain secrets in plain text. */
export function providerSettings(
  resource: Pick<StateResource, "provider" | "urn">,
  resources: readonly StateResource[],
  { environment, programDirectory }: Pick<OpenStack, "environment" | "programDirectory">,
): Settings | undefined {
  const urn = explicitProviderOf(resource);
  if (urn === undefined) return undefined;
  const inputs = resources.find((entry) => entry.urn === urn && !entry.delete)?.inputs;
  if (!inputs)
    throw new Error(
      `The state has no provider ${partsOf(urn).name}, which ${resource.urn} uses. ` +
        `Check the state with \`pulumi stack export\`.`,
    );
  const given = settingKeys.filter((key) => inputs[key] != null);
  const settings = readSettings((key) => textOf(inputs[key]), environmentWithout(given, environment));
  return relativeToProgram(settings, programDirectory);
}

/** Returns an input as text. Secrets contain JSON in `plaintext`. */
function textOf(value: unknown): string | undefined {
  if (value == null) return undefined;
  if (typeof value === "string") return value;
  const { plaintext } = value as { plaintext?: unknown };
  if (isSealed(value) && typeof plaintext === "string") return textOf(JSON.parse(plaintext));
  return JSON.stringify(value);
}
