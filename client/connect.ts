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

/**
 * How an embedded service was reached: whether it had to be started, whether its data was created, and its process id.
 */
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

/** Token endpoint of the service in this package. `key` is the service key, or the secret of the client `clientId`. */
function tokenEndpointOf(baseUrl: string, key: string, clientId = "pulumi-recommender") {
  return { url: `${baseUrl.replace(/\/+$/, "")}/oauth/token`, clientId, clientSecret: key };
}

/** Prefix of client secrets in the service of this package. */
const clientSecretPrefix = "rc_";

/**
 * Returns a source that requests tokens from the service itself, for settings without a token source. The service in
 * this package issues tokens; other services may not.
 */
function serviceTokenSource({ baseUrl, apiKey = "", clientId }: Settings, whoami?: string): TokenSource {
  const endpoint = tokenEndpointOf(baseUrl, apiKey, clientId);
  // Messages show this address, so it must not contain the user name and password of the URL.
  const { origin: host, pathname } = new URL(endpoint.url);
  const credentials = clientId
    ? `${settingName("apiKey")} and ${settingName("clientId")}`
    : settingName("apiKey");
  const source = endpointToken({ ...endpoint, origin: host + pathname, credentials, whoami });
  let hasIssuedToken = false;
  const fetch: TokenSource["fetch"] = async (scope, ...rest) => {
    try {
      const token = await source.fetch(scope, ...rest);
      hasIssuedToken = true;
      return token;
    } catch (error) {
      // If this address has issued a token before, it is a token endpoint, so do not suggest other token sources.
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
