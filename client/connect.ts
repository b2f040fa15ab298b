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

/** Creates a client from settings. Used outside of Pulumi programs, such as in commands. */
export async function connect(settings: Settings, options: Partial<ClientOptions> = {}): Promise<Client> {
  const target = await resolveTarget(settings, options.whoami);
  return new Client({ ...target, connections: settings.parallel, ...options });
}

/** How an embedded service was reached: whether it was started and its data created, and its process. */
type EmbeddedStart = Pick<import("../service/embedded").Embedded, "started" | "created" | "pid">;

/** Returns the address and credentials for settings. Starts the embedded service if the settings use one. */
export async function resolveTarget(
  settings: Settings,
  whoami?: string,
): Promise<Pick<ClientOptions, "baseUrl" | "apiKey" | "token" | "instanceId"> & Partial<EmbeddedStart>> {
  const directory = embeddedDirectory(settings.baseUrl);
  if (directory !== undefined) {
    // Loaded lazily, because most programs call a remote service.
    const { embedded } = require("../service/embedded") as typeof import("../service/embedded");
    const { url, key, ...start } = await embedded(directory);
    const token = endpointToken({ ...tokenEndpointOf(url, key), origin: "the embedded service" });
    return { ...start, baseUrl: url, apiKey: key, token };
  }
  return { baseUrl: settings.baseUrl, apiKey: settings.apiKey ?? "", token: tokenSource(settings, whoami) };
}

function tokenSource(settings: Settings, whoami: string | undefined): TokenSource {
  const { accessToken, tokenCommand, tokenUrl, clientId = "", clientSecret = "" } = settings;
  if (tokenUrl)
    return endpointToken({ url: tokenUrl, clientId, clientSecret, origin: settingName("tokenUrl"), whoami });
  if (tokenCommand) return commandToken(tokenCommand, { origin: settingName("tokenCommand") });
  return accessToken
    ? fixedToken(accessToken, settingName("accessToken"))
    : serviceTokenSource(settings, whoami);
}

/** Token endpoint of a service of this package. The secret is the service key, or that of the given client. */
function tokenEndpointOf(baseUrl: string, key: string, clientId = "pulumi-recommender") {
  return { url: `${baseUrl.replace(/\/+$/, "")}/oauth/token`, clientId, clientSecret: key };
}

/** Prefix of client secrets in the service of this package. */
const clientSecretPrefix = "rc_";

/** Gets tokens from the service itself, if no token source is set. Services of this package issue tokens; others may not. */
function serviceTokenSource({ baseUrl, apiKey = "", clientId }: Settings, whoami?: string): TokenSource {
  const endpoint = tokenEndpointOf(baseUrl, apiKey, clientId);
  // Messages show this address, so it must not contain credentials before the host.
  const { origin: host, pathname } = new URL(endpoint.url);
  const credentials = clientId
    ? `${settingName("apiKey")} and ${settingName("clientId")}`
    : settingName("apiKey");
  const source = endpointToken({ ...endpoint, origin: host + pathname, credentials, whoami });
  let hasIssuedToken = false;
  const fetch: TokenSource["fetch"] = async (scope, http) => {
    try {
      const token = await source.fetch(scope, http);
      hasIssuedToken = true;
      return token;
    } catch (error) {
      // An address that has issued a token before is a token endpoint, so other sources need not be suggested.
      if (hasIssuedToken || !(error instanceof TokenError) || error.transient) throw error;
      const { message, refusal, cause } = error;
      if (refusal === "credentials" && !clientId && apiKey.startsWith(clientSecretPrefix))
        throw new TokenError(clientIdMissing(settingName("apiKey"), whoami), { cause, refusal });
      throw refusal ? error : new TokenError(noTokenSource(message), { cause });
    }
  };
  return { ...source, fetch };
}

/** Returns the name of a setting for messages: its environment variable if that is set, else its key. */
function settingName(key: SettingKey): string {
  return process.env[environmentName(key)] ? environmentName(key) : `recommender:${key}`;
}
