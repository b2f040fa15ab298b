import type { ConfigMap } from "@pulumi/pulumi/automation";
import { redactSecret } from "../../client/http/credentials";
import { environmentName, secretKeys } from "../../client/settings";

const pulumiSecrets = ["PULUMI_CONFIG_PASSPHRASE", "PULUMI_ACCESS_TOKEN"];
const secretVariables = [...pulumiSecrets, ...secretKeys.map(environmentName)];

/**
 * Minimum length of a masked secret, because masking shorter ones would mask ordinary words. The engine itself masks
 * secrets of any length.
 */
const minLength = 8;

/** Returns the texts that must not be printed: secrets in the configuration, and credentials in the environment. */
export function secretTexts(config: ConfigMap, environment: NodeJS.ProcessEnv): string[] {
  const configured = Object.entries(config).flatMap(([key, { value, secret }]) =>
    secret || secretKeys.some((name) => key === `recommender:${name}`) ? leaves(value) : [],
  );
  const given = secretVariables.flatMap((name) => environment[name] ?? []);
  return [...new Set([...configured, ...given])]
    .filter((text) => text.length >= minLength)
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

/**
 * Returns the texts in a secret configuration value. If the value is an object or a list in JSON, returns all texts in
 * it.
 */
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
