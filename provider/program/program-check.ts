import { existsSync } from "node:fs";
import { resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import {
  clearTextWarning,
  embeddedFolder,
  environmentName,
  readSettings,
  SettingsError,
  secretKeys,
  settingKeys,
} from "../../client/settings";
import { nearest, unknownKey } from "../../contract/words";
import { carrierKey } from "../run/engine";
import { pinnedModelsKey } from "../run/pinned";
import { type CarrierName, toPlugin } from "./carrier";

const namespace = "recommender";

/** Stacks that were looked at; one process may run several of them. */
const checked = new Set<string>();

/** The SDK knows which keys are secret but keeps the question to itself. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

/** Looks at the configuration of the running stack, once: what nobody reads, and what is not as safe as it could be. */
export function checkConfiguration(): void {
  const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
  if (checked.has(stack)) return;
  refuseUnknownKeys();
  checked.add(stack);
  const config = new pulumi.Config(namespace);
  for (const key of secretKeys) {
    if (config.get(key) === undefined || isConfigSecret(`${namespace}:${key}`)) continue;
    pulumi.log.warn(
      `recommender:${key} is kept in the clear. Encrypt it: pulumi config set --secret recommender:${key} VALUE`,
    );
  }
  warnOfService(config);
}

/** A mistyped key would leave its default in force, which for the address is a service on this machine. */
function refuseUnknownKeys(): void {
  const known = [...settingKeys, pinnedModelsKey, carrierKey];
  for (const full of Object.keys(pulumi.runtime.allConfig())) {
    const [space, key = ""] = full.split(":");
    if (space !== namespace || known.includes(key)) continue;
    // The keys of a project of this name lie in the same namespace.
    const meant = nearest(key, known);
    if (pulumi.getProject() === namespace && meant === undefined) continue;
    throw new pulumi.RunError(
      `The configuration key recommender:${unknownKey(key, known)} ` +
        `Take it out with \`pulumi config rm recommender:${key}\`. The keys are ${known.join(", ")}.`,
    );
  }
}

/** Says what the address of the service means: credentials without TLS, or a service on this machine that is not there yet. */
function warnOfService(config: pulumi.Config): void {
  try {
    const settings = readSettings((key) => config.get(key));
    const warning = clearTextWarning(settings);
    if (warning) pulumi.log.warn(warning);
    if (config.get("baseUrl") !== undefined || process.env[environmentName("baseUrl")]) return;
    const folder = embeddedFolder(settings.baseUrl);
    if (folder === undefined || existsSync(folder)) return;
    pulumi.log.info(
      `recommender:baseUrl is not set: a service of its own keeps its data in ${resolve(folder)}`,
    );
  } catch (error) {
    // The lifecycle says it beside a resource.
    if (!(error instanceof SettingsError)) throw error;
  }
}

/** Refuses what cannot be done for a declared resource, where the engine or its SDK would pass over it in silence. */
export function checkDeclaration(
  title: string,
  args: pulumi.Inputs,
  options: pulumi.CustomResourceOptions,
  carrier: CarrierName,
): void {
  if (options.import !== undefined && carrier === "dynamic") {
    throw new pulumi.RunError(
      `${title}: the option import needs a provider plugin, and this is a dynamic provider. ` +
        `Adopt what is there with the argument existingId. ${toPlugin}`,
    );
  }
  if (options.customTimeouts !== undefined && carrier === "dynamic") {
    pulumi.log.warn(
      `${title}: the option customTimeouts does not reach a dynamic provider and has no effect. Set how long jobs are ` +
        "waited for with recommender:trainingTimeout, deploymentTimeout, queryingTimeout and clusteringTimeout. " +
        toPlugin,
    );
  }
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
