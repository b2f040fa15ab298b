import {
  Client,
  type ClientOptions,
  commandToken,
  endpointToken,
  fixedToken,
  TokenError,
  type TokenSource,
} from "./client";
import {
  clientIdMissing,
  embeddedDirectory,
  environmentName,
  noTokenSource,
  type SettingKey,
  type Settings,
} from "./settings";

/** A client for a configuration, without the engine: for commands that no program runs. */
export async function connect(settings: Settings, options: Partial<ClientOptions> = {}): Promise<Client> {
  const reached = await resolveTarget(settings, options.whoami);
  return new Client({ ...reached, connections: settings.parallel, ...options });
}

/** What it took to reach an embedded service. */
type Start = Pick<import("../service/embedded").Embedded, "started" | "created" | "pid">;

/** Where calls of a configuration go, and what they carry; starts the embedded service where that is meant. */
export async function resolveTarget(
  settings: Settings,
  whoami?: string,
): Promise<Pick<ClientOptions, "baseUrl" | "apiKey" | "token" | "instanceId"> & Partial<Start>> {
  const folder = embeddedDirectory(settings.baseUrl);
  if (folder !== undefined) {
    // Loaded when it is needed: a program that uses a real service does not pay for it.
    const { embedded } = require("../service/embedded") as typeof import("../service/embedded");
    const { url, key, instanceId, started, created, pid } = await embedded(folder);
    return {
      ...{ baseUrl: url, apiKey: key, instanceId, started, created, pid },
      token: endpointToken({ ...tokenEndpointOf(url, key), origin: "the embedded service" }),
    };
  }
  return { baseUrl: settings.baseUrl, apiKey: settings.apiKey ?? "", token: tokenSource(settings, whoami) };
}

function tokenSource(settings: Settings, whoami: string | undefined): TokenSource {
  const { accessToken, tokenCommand, tokenUrl, clientId = "", clientSecret = "" } = settings;
  if (tokenUrl)
    return endpointToken({ url: tokenUrl, clientId, clientSecret, origin: origin("tokenUrl"), whoami });
  if (tokenCommand) return commandToken(tokenCommand, { origin: origin("tokenCommand") });
  return accessToken ? fixedToken(accessToken, origin("accessToken")) : serviceTokenSource(settings, whoami);
}

/** Where a service of this package gives tokens for its key, or for the secret of the client that is named. */
function tokenEndpointOf(baseUrl: string, key: string, clientId = "pulumi-recommender") {
  return { url: `${baseUrl.replace(/\/+$/, "")}/oauth/token`, clientId, clientSecret: key };
}

/** Secrets of clients of our own service begin like this. */
const clientSecretPrefix = "rc_";

/** If no source of tokens is set, the service is asked for one: our own service gives tokens, others may not. */
function serviceTokenSource({ baseUrl, apiKey = "", clientId }: Settings, whoami?: string): TokenSource {
  const endpoint = tokenEndpointOf(baseUrl, apiKey, clientId);
  // Without what a user may have put before the host: it is shown.
  const { origin: host, pathname } = new URL(endpoint.url);
  const credentials = clientId ? `${origin("apiKey")} and ${origin("clientId")}` : origin("apiKey");
  const source = endpointToken({ ...endpoint, origin: host + pathname, credentials, whoami });
  let hasGiven = false;
  const fetch: TokenSource["fetch"] = async (scope, http) => {
    try {
      const token = await source.fetch(scope, http);
      hasGiven = true;
      return token;
    } catch (error) {
      // An address that has given a token is a source of them, whatever it says later.
      if (hasGiven || !(error instanceof TokenError) || error.transient) throw error;
      const { message, refusal, cause } = error;
      if (refusal === "credentials" && !clientId && apiKey.startsWith(clientSecretPrefix))
        throw new TokenError(clientIdMissing(origin("apiKey"), whoami), { cause, refusal });
      throw refusal ? error : new TokenError(noTokenSource(message), { cause });
    }
  };
  return { ...source, fetch };
}

/** Where a credential came from, for the message of the call that it fails. */
function origin(key: SettingKey): string {
  return process.env[environmentName(key)] ? environmentName(key) : `recommender:${key}`;
}
