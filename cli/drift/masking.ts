import type { ConfigMap } from "@pulumi/pulumi/automation";
import { redactSecret } from "../../client/http/credentials";
import { environmentName, secretKeys } from "../../client/settings";

const environmentSecrets = [
  "PULUMI_CONFIG_PASSPHRASE",
  "PULUMI_ACCESS_TOKEN",
  ...secretKeys.map(environmentName),
];

/** Shorter ones would mask ordinary words; the engine masks its own secrets whatever their length. */
const leastLength = 8;

/** Texts that must not be shown: secrets of the configuration and credentials of the environment. */
export function secretTexts(config: ConfigMap, environment: NodeJS.ProcessEnv): string[] {
  const configured = Object.entries(config).flatMap(([key, { value, secret }]) =>
    secret || secretKeys.some((name) => key === `recommender:${name}`) ? leaves(value) : [],
  );
  const given = environmentSecrets.flatMap((name) => environment[name] ?? []);
  return [...new Set([...configured, ...given])]
    .filter((text) => text.length >= leastLength)
    .sort((a, b) => b.length - a.length);
}

/** Returns a copy of a value with all secrets masked, in strings and keys at any depth. */
export function redactAll<T>(value: T, secrets: readonly string[]): T {
  if (typeof value === "string") return secrets.reduce(redactSecret, value as string) as T;
  if (Array.isArray(value)) return value.map((entry) => redactAll(entry, secrets)) as T;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, entry]) => [
      redactAll(key, secrets),
      redactAll(entry, secrets),
    ]);
    return Object.fromEntries(entries) as T;
  }
  return value;
}

/** A secret of the configuration may be an object, which the engine hands over as JSON. */
function leaves(value: string): string[] {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === "object" && parsed !== null) {
      return Object.values(parsed).flatMap((entry) => leaves(JSON.stringify(entry)));
    }
    return [String(parsed), value];
  } catch {
    return [value];
  }
}
