import * as pulumi from "@pulumi/pulumi";
import { secretKeys, settingKeys } from "../../client/settings";
import { reservedNameError } from "../lifecycle/hidden";
import { configurationKeys, reportAddress, unknownKeyError } from "../run/configuration";
import { maskingSecrets } from "../run/secrecy";
import { type BindingName, toPlugin } from "./binding";

const namespace = "recommender";

/** Stacks that were looked at; one process may run several of them. */
const checked = new Set<string>();

/** The SDK knows which keys are secret but keeps the question to itself. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

/** Looks at the configuration of the running stack, once: what nobody reads, and what is not as safe as it could be. */
export function checkConfiguration(binding: BindingName): void {
  const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
  if (checked.has(stack)) return;
  refuseUnknownKeys();
  checked.add(stack);
  const config = new pulumi.Config(namespace);
  // The engine does not tell a plugin which keys are secret.
  for (const key of secretKeys) {
    if (config.get(key) === undefined || isConfigSecret(`${namespace}:${key}`)) continue;
    pulumi.log.warn(
      `recommender:${key} is kept in the clear. Encrypt it: pulumi config set --secret recommender:${key} VALUE`,
    );
  }
  // The plugin says it itself, in every language.
  if (binding === "dynamic") void discreetly(() => reportAddress((key) => config.get(key)));
}

/** Keys of the configuration that the stack keeps secret although they need not be, with their namespace. */
export function secretSettings(): string[] {
  const others = settingKeys.filter((key) => !secretKeys.some((secret) => secret === key));
  return others.map((key) => `${namespace}:${key}`).filter(isConfigSecret);
}

/** Does something whose messages do not show the secret keys of the configuration. */
export function discreetly<T>(work: () => Promise<T>): Promise<T> {
  const values = secretSettings().map((key) => [key, pulumi.runtime.getConfig(key)]);
  return maskingSecrets([Object.fromEntries(values)], work);
}

function refuseUnknownKeys(): void {
  for (const full of Object.keys(pulumi.runtime.allConfig())) {
    const [space, key = ""] = full.split(":");
    if (space !== namespace) continue;
    const remedy = `Take it out with \`pulumi config rm recommender:${key}\`.`;
    const fault = unknownKeyError(key, { known: configurationKeys, project: pulumi.getProject(), remedy });
    if (fault) throw new pulumi.RunError(fault);
  }
}

/** Refuses what cannot be done for a declared resource, where the engine or its SDK would pass over it in silence. */
export function checkDeclaration(
  title: string,
  args: pulumi.Inputs,
  options: pulumi.CustomResourceOptions,
  binding: BindingName,
): void {
  if (options.import !== undefined && binding === "dynamic") {
    throw new pulumi.RunError(
      `${title}: the option import needs a provider plugin, and this is a dynamic provider. ` +
        `Adopt what is there with the argument existingId. ${toPlugin}`,
    );
  }
  if (options.customTimeouts !== undefined && binding === "dynamic") {
    pulumi.log.warn(
      `${title}: the option customTimeouts does not reach a dynamic provider and has no effect. Set how long jobs are ` +
        "waited for with recommender:trainingTimeout, deploymentTimeout, queryingTimeout and clusteringTimeout. " +
        toPlugin,
    );
  }
  const hidden = Object.keys(args).flatMap((name) => reservedNameError(name) ?? []);
  if (hidden.length > 0) throw new pulumi.RunError(`${title}: ${hidden.join("; ")}.`);
  const place = placeOfPrototype(args);
  if (place !== undefined) {
    throw new pulumi.RunError(
      `${title}: ${place} has a key __proto__, which Pulumi's SDK drops. Give it another name.`,
    );
  }
}

/** Where a plain value has a key of its own that is called `__proto__`. */
function placeOfPrototype(value: unknown, place = ""): string | undefined {
  if (typeof value !== "object" || value === null || pulumi.Output.isInstance(value)) return undefined;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  if (Object.hasOwn(value, "__proto__")) return place || "the arguments";
  for (const [key, inner] of Object.entries(value)) {
    const found = placeOfPrototype(inner, place ? `${place}.${key}` : key);
    if (found !== undefined) return found;
  }
  return undefined;
}
