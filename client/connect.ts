import {
  Client,
  type ClientOptions,
  commandToken,
  endpointToken,
  fixedToken,
  type TokenSource,
} from "./client";
import { embeddedFolder, environmentName, type SettingKey, type Settings } from "./settings";

/** A client for a configuration, without the engine: for commands that no program runs. */
export async function connect(settings: Settings, options: Partial<ClientOptions> = {}): Promise<Client> {
  return new Client({ ...(await target(settings)), connections: settings.parallel, ...options });
}

/** What it took to reach an embedded service. */
type Start = Pick<import("../service/embedded").Embedded, "started" | "created" | "pid">;

/** Where calls of a configuration go, and what they carry; starts the embedded service where that is meant. */
export async function target(
  settings: Settings,
): Promise<Pick<ClientOptions, "baseUrl" | "apiKey" | "token" | "instanceId"> & Partial<Start>> {
  const folder = embeddedFolder(settings.baseUrl);
  if (folder !== undefined) {
    // Loaded when it is needed: a program that uses a real service does not pay for it.
    const { embedded } = require("../service/embedded") as typeof import("../service/embedded");
    const { url, key, instanceId, started, created, pid } = await embedded(folder);
    const endpoint = { url: `${url}/oauth/token`, clientId: "pulumi-recommender", clientSecret: key };
    return {
      ...{ baseUrl: url, apiKey: key, instanceId, started, created, pid },
      token: endpointToken({ ...endpoint, origin: "the embedded service" }),
    };
  }
  return { baseUrl: settings.baseUrl, apiKey: settings.apiKey ?? "", token: tokenSource(settings) };
}

function tokenSource(settings: Settings): TokenSource {
  const { accessToken, tokenCommand, tokenUrl, clientId = "", clientSecret = "" } = settings;
  if (tokenUrl) return endpointToken({ url: tokenUrl, clientId, clientSecret, origin: origin("tokenUrl") });
  if (tokenCommand) return commandToken(tokenCommand, { origin: origin("tokenCommand") });
  return fixedToken(accessToken ?? "", origin("accessToken"));
}

/** Where a credential came from, for the message of the call that it fails. */
function origin(key: SettingKey): string {
  return process.env[environmentName(key)] ? environmentName(key) : `recommender:${key}`;
}
