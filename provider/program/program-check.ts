import * as pulumi from "@pulumi/pulumi";
import { secretKeys, settingKeys } from "../../client/settings";
import { reservedNameError } from "../lifecycle/hidden";
import { configurationKeys, reportAddress, unknownKeyError } from "../run/configuration";
import { maskingSecrets } from "../run/secrecy";
import { type BindingName, toPlugin } from "./binding";
import { isConfigSecret } from "./sdk-internals";

const namespace = "recommender";

/** Stacks whose configuration was checked. One process may run several stacks. */
const checked = new Set<string>();

/** Checks the configuration of the running stack once: rejects unknown keys and warns about unsafe settings. */
export function checkConfiguration(binding: BindingName): void {
  const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
  if (checked.has(stack)) return;
  rejectUnknownKeys();
  checked.add(stack);
  const config = new pulumi.Config(namespace);
  // The engine does not report to a plugin which keys are secret, so the program checks them.
  for (const key of secretKeys) {
    if (config.get(key) === undefined || isConfigSecret(`${namespace}:${key}`)) continue;
    pulumi.log.warn(
      `recommender:${key} is stored as plain text. Encrypt it with \`pulumi config set --secret recommender:${key} VALUE\`.`,
    );
  }
  // With the plugin binding, the plugin warns about these settings itself, in every language.
  if (binding === "dynamic") void discreetly(() => reportAddress((key) => config.get(key)));
}

/**
 * Returns the keys, with their namespace, of settings that the stack stores as secrets although they need not be
 * secret.
 */
export function secretSettings(): string[] {
  const others = settingKeys.filter((key) => !secretKeys.some((secret) => secret === key));
  return others.map((key) => `${namespace}:${key}`).filter(isConfigSecret);
}

/** Runs `work` and masks the values of these secret settings in its messages. */
export function discreetly<T>(work: () => Promise<T>): Promise<T> {
  const values = secretSettings().map((key) => [key, pulumi.runtime.getConfig(key)]);
  return maskingSecrets([Object.fromEntries(values)], work);
}

function rejectUnknownKeys(): void {
  for (const full of Object.keys(pulumi.runtime.allConfig())) {
    const [space, key = ""] = full.split(":");
    if (space !== namespace) continue;
    const remedy = `Remove it with \`pulumi config rm recommender:${key}\`.`;
    const fault = unknownKeyError(key, { known: configurationKeys, project: pulumi.getProject(), remedy });
    if (fault) throw new pulumi.RunError(fault);
  }
}

/** Rejects or warns about arguments and options that the engine or the SDK would ignore silently. */
export function checkDeclaration(
  title: string,
  args: pulumi.Inputs,
  options: pulumi.CustomResourceOptions,
  binding: BindingName,
): void {
  if (options.import !== undefined && binding === "dynamic") {
    throw new pulumi.RunError(
      `${title}: the option import needs the plugin, but this stack uses dynamic resources. ` +
        `Adopt the existing object with the argument existingId, or use the plugin. ${toPlugin}`,
    );
  }
  if (options.customTimeouts !== undefined && binding === "dynamic") {
    pulumi.log.warn(
      `${title}: the option customTimeouts has no effect on dynamic resources. Set the timeouts of jobs with ` +
        "recommender:trainingTimeout, deploymentTimeout, queryingTimeout, clusteringTimeout and " +
        "recommendationTimeout. " +
        `The plugin supports customTimeouts. ${toPlugin}`,
    );
  }
  const hidden = Object.keys(args).flatMap((name) => reservedNameError(name) ?? []);
  if (hidden.length > 0) throw new pulumi.RunError(`${title}: ${hidden.join("; ")}.`);
  const place = prototypeKey(args);
  if (place !== undefined) {
    throw new pulumi.RunError(
      `${title}: ${place} has a key __proto__, which the Pulumi SDK drops. Rename it.`,
    );
  }
}

/** Returns the path of the object that has a key `__proto__`, if a plain value contains one. */
function prototypeKey(value: unknown, place = ""): string | undefined {
  if (typeof value !== "object" || value === null || pulumi.Output.isInstance(value)) return undefined;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  if (Object.hasOwn(value, "__proto__")) return place || "the arguments";
  for (const [key, inner] of Object.entries(value)) {
    const found = prototypeKey(inner, place ? `${place}.${key}` : key);
    if (found !== undefined) return found;
  }
  return undefined;
}
