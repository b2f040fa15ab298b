import type { Command } from "commander";
import ms from "ms";
import type { Client, TokenSource } from "../../client/client";
import type { SettingKey, Settings } from "../../client/settings";
import { type Route, routes } from "../../contract";
import type { pinnedModelsKey } from "../../provider/run/pinned";
import {
  assertServiceExists,
  type ServiceOptions,
  settingsOf,
  whoamiCommand,
  withService,
} from "../stack/service";
import { CommandError, exitCodes } from "../terminal/exit";
import { propertyList, table } from "../terminal/layout";
import { formatCount, print } from "../terminal/output";

const help = `
Keys, tokens and secrets are never shown, only whether and where they are set.

Exit codes:
  0  every scope gets a token, and the service takes it
  1  something is missing or refused; the output says what

Examples:
  recommender whoami
  recommender whoami --stack dev
  recommender whoami --json`;

/** Adds `recommender whoami`. */
export function addWhoami(program: Command): void {
  withService(
    program
      .command("whoami")
      .description("Tell what is configured and from where, and whether every scope gets a token."),
  )
    .addHelpText("after", help)
    .action(whoami);
}

interface Configured {
  readonly key: SettingKey | typeof pinnedModelsKey;
  /** Absent where it must not be shown. */
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
  const reached = await resolveTarget(settings, whoami);
  const client = new Client({ ...reached, whoami, retry: { budgetMs: 3000 } });
  const error = await client.call(routes.listEventDatasets, {}).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  const offered = await scopesOf(client);
  await client.close();
  const refusal = error && withoutHint(error.message, whoami);
  // If nothing can be reached, or the credentials are rejected, no scope gets a token: one line says it.
  const isForAll = error instanceof TokenError && (error.isUnreachable || error.refusal === "credentials");
  const scopes = isForAll ? [] : await tokensOf(reached.token, offered, whoami);
  const failed = scopes.filter(({ error }) => error !== undefined);
  const ok = failed.length === 0 && refusal === undefined;
  const answer = { taken: refusal === undefined, ...(refusal === undefined ? {} : { error: refusal }) };
  const service = { url: withoutSecrets(reached.baseUrl), ...answer };
  const tokens = { from: reached.token.origin, scopes };
  print(options, { ok, service, tokens, configuration: configured }, () => {
    const rows = configured
      .filter(({ key, from }) => key === "baseUrl" || from !== "default")
      .map(({ key, value, from }) => [key, value ?? "(set, not shown)", from]);
    return [
      table(["SETTING", "VALUE", "FROM"], rows),
      propertyList([
        ["service", service.url],
        ["tokens from", tokens.from],
        [
          "tokens",
          isForAll ? "none" : `${scopes.length - failed.length} of ${formatCount(scopes.length, "scope")}`,
        ],
        ["tried out", refusal ?? `${routes.listEventDatasets.path} was answered`],
      ]),
      ...(failed.length > 0 ? [propertyList(failed.map(({ scope, error }) => [scope, error]))] : []),
    ].join("\n");
  });
  if (!ok) throw new CommandError("Some checks failed; see above.", exitCodes.failed);
}

/** Every setting with where it comes from, without those that must stay secret. */
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
    // A command may hold a secret in its words.
    const secret = key === "tokenCommand" || secretKeys.some((name) => name === key);
    return [{ key, from, ...(secret ? {} : { value: shownValue(key, used) }) }];
  });
  // Read by deployments themselves, which it overrules.
  const value = environment[pinnedModelsVariable] || stack?.config(pinned);
  return value
    ? [...configured, { key: pinned, value, from: origin(pinned, pinnedModelsVariable) }]
    : configured;
}

function shownValue(key: SettingKey, value: unknown): string {
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

/** An error without the advice to run this very command. */
function withoutHint(message: string, whoami: string): string {
  const hint = `\`${whoami}\`.`;
  return message.endsWith(hint) ? message.slice(0, -hint.length).replace(/ [^.?]*$/, "") : message;
}

/** The scopes of the operations that the service has: those of the specification, and the extensions it lists. */
async function scopesOf(client: Client): Promise<string[]> {
  const all: readonly Route[] = Object.values(routes);
  const isOffered = await Promise.all(all.map((route) => client.supports(route).catch(() => false)));
  return all.filter((_, at) => isOffered[at]).map(({ path }) => path);
}

/** Asks for a token of each scope, a few at a time; the source may be a command. */
async function tokensOf(source: TokenSource, scopes: readonly string[], whoami: string): Promise<Scope[]> {
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
      found.push({ scope, ...(error === undefined ? {} : { error }) });
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  await http.close();
  return found.sort((a, b) => scopes.indexOf(a.scope) - scopes.indexOf(b.scope));
}
