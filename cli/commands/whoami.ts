import type { Command } from "commander";
import ms from "ms";
import type { Client, TokenSource } from "../../client/client";
import type { SettingKey, Settings } from "../../client/settings";
import { type Route, routes } from "../../contract";
import type { pinnedModelsKey } from "../../provider/run/pinned";
import {
  assertServiceExists,
  type ServiceOptions,
  serviceCommand,
  settingsOf,
  whoamiCommand,
} from "../stack/service";
import { CommandError, exitCodes } from "../terminal/exit";
import { propertyList, table } from "../terminal/layout";
import { defined, formatCount, print } from "../terminal/output";

const help = `
Keys, tokens and secrets are never printed, only where they are set.

Exit codes:
  0  every scope gets a token, and the service accepts it
  1  a setting is missing, or a token is rejected; see the output

Examples:
  recommender whoami
  recommender whoami --stack dev
  recommender whoami --json`;

/** Adds `recommender whoami`. */
export function addWhoami(program: Command): void {
  const description = "Show the configuration and its sources, and check the token of every scope.";
  serviceCommand(program, "whoami", description, help).action(whoami);
}

/** A setting, with its source. */
interface Configured {
  readonly key: SettingKey | typeof pinnedModelsKey;
  /** Value of the setting. Absent if the setting is secret. */
  readonly value?: string;
  readonly from: string;
}

interface Scope {
  readonly scope: string;
  readonly error?: string;
}

async function whoami(options: ServiceOptions): Promise<void> {
  const { settings, ...sources } = await settingsOf(options);
  await assertServiceExists(settings, options);
  const configured = await configuration(settings, options, sources);
  const { resolveTarget } = await import("../../client/connect.js");
  const { Client, TokenError } = await import("../../client/client.js");
  const whoami = whoamiCommand(options);
  const target = await resolveTarget(settings, whoami);
  const client = new Client({ ...target, whoami, retry: { budgetMs: 3000 } });
  const error = await client.call(routes.listEventDatasets, {}).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  const offered = await scopesOf(client);
  await client.close();
  const problem = error && withoutHint(error.message, whoami);
  // If the token endpoint is unreachable or rejects the credentials, all scopes fail with the same error. Show it once.
  const failsForAll = error instanceof TokenError && (error.isUnreachable || error.refusal === "credentials");
  const scopes = failsForAll ? [] : await fetchTokens(target.token, offered, whoami);
  const failed = scopes.filter(({ error }) => error !== undefined);
  const ok = failed.length === 0 && problem === undefined;
  const url = withoutSecrets(target.baseUrl);
  const service = { url, taken: problem === undefined, ...defined({ error: problem }) };
  const tokens = { from: target.token.origin, scopes };
  const scopeCount = formatCount(scopes.length, "scope");
  print(options, { ok, service, tokens, configuration: configured }, () => {
    const rows = configured
      .filter(({ key, from }) => key === "baseUrl" || from !== "default")
      .map(({ key, value, from }) => [key, value ?? "(set, not shown)", from]);
    return [
      table(["SETTING", "VALUE", "FROM"], rows),
      propertyList([
        ["service", service.url],
        ["tokens from", tokens.from],
        ["tokens", failsForAll ? "none" : `${scopes.length - failed.length} of ${scopeCount}`],
        ["test call", problem ?? `${routes.listEventDatasets.path} succeeded`],
      ]),
      ...(failed.length > 0 ? [propertyList(failed.map(({ scope, error }) => [scope, error]))] : []),
    ].join("\n");
  });
  if (!ok) throw new CommandError("Some checks failed. See the output above.", exitCodes.failed);
}

/** Returns all settings with their sources. Secret values are left out. */
async function configuration(
  settings: Settings,
  { service, stack: stackName }: ServiceOptions,
  { stack, environment }: Omit<Awaited<ReturnType<typeof settingsOf>>, "settings">,
): Promise<Configured[]> {
  const { environmentName, secretKeys, settingKeys } = await import("../../client/settings.js");
  const { pinnedModelsKey: pinned, pinnedModelsVariable } = await import("../../provider/run/pinned.js");
  const origin = (key: Configured["key"], variable: string) => {
    if (environment[variable]) return variable;
    return stack?.config(key) === undefined ? "default" : `stack ${stackName}`;
  };
  const configured = settingKeys.flatMap((key): Configured[] => {
    const used = settings[key];
    if (used === undefined) return [];
    const from = key === "baseUrl" && service !== undefined ? "--service" : origin(key, environmentName(key));
    // A token command may contain a secret.
    const secret = key === "tokenCommand" || secretKeys.some((name) => name === key);
    return [{ key, from, ...(!secret && { value: formatSetting(key, used) }) }];
  });
  // Only deployments read the pinned models, so they are not in `settings`.
  const value = environment[pinnedModelsVariable] || stack?.config(pinned);
  return value
    ? [...configured, { key: pinned, value, from: origin(pinned, pinnedModelsVariable) }]
    : configured;
}

function formatSetting(key: SettingKey, value: unknown): string {
  if (typeof value === "number") return key.endsWith("Timeout") ? ms(value) : String(value);
  return typeof value === "string" ? withoutSecrets(value) : JSON.stringify(value);
}

function withoutSecrets(text: string): string {
  if (!/^https?:/.test(text)) return text;
  const url = new URL(text);
  for (const part of ["username", "password"] as const) if (url[part]) url[part] = "***";
  for (const name of url.searchParams.keys()) url.searchParams.set(name, "***");
  return String(url).replace(/\/$/, "");
}

/** Removes the hint to run `recommender whoami` from an error. */
function withoutHint(message: string, whoami: string): string {
  const hint = `\`${whoami}\`.`;
  return message.endsWith(hint) ? message.slice(0, -hint.length).replace(/ [^.?]*$/, "") : message;
}

/** Returns the scopes of all operations that the service offers, including its extensions. */
async function scopesOf(client: Client): Promise<string[]> {
  const all: readonly Route[] = Object.values(routes);
  const isOffered = await Promise.all(all.map((route) => client.supports(route).catch(() => false)));
  return all.filter((_, at) => isOffered[at]).map(({ path }) => path);
}

/** Requests a token for each scope, at most four at a time, because each request may start a command. */
async function fetchTokens(source: TokenSource, scopes: readonly string[], whoami: string): Promise<Scope[]> {
  const { Agent } = await import("undici");
  const http = new Agent();
  const found: Scope[] = [];
  const next = scopes.values();
  const worker = async () => {
    for (const scope of next) {
      const error = await source.fetch(scope, http).then(
        () => undefined,
        (failure: Error) => withoutHint(failure.message, whoami),
      );
      found.push({ scope, ...defined({ error }) });
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  await http.close();
  return found.sort((a, b) => scopes.indexOf(a.scope) - scopes.indexOf(b.scope));
}
