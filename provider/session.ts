import { Client, commandToken, endpointToken, fixedToken, type TokenSource } from "./client";
import { type Clock, systemClock } from "./clock";
import { say } from "./engine-log";
import { environmentName, type SettingKey, type Settings, secretKeys } from "./settings";

/** What the lifecycles of one run share: the configuration, the client and the clock. */
export interface Session {
  readonly settings: Settings;
  readonly client: Client;
  readonly clock: Clock;
}

const sessions = new Map<string, Promise<Session>>();

/** The session for a configuration; the same configuration gets the same session. */
export function openSession(settings: Settings): Promise<Session> {
  const key = JSON.stringify(settings);
  let session = sessions.get(key);
  if (!session) {
    session = connect(settings);
    session.catch(() => sessions.delete(key));
    sessions.set(key, session);
  }
  return session;
}

async function connect(settings: Settings): Promise<Session> {
  const { baseUrl, apiKey, token } = await target(settings);
  const client = new Client({
    baseUrl,
    apiKey,
    token,
    connections: settings.parallel,
    onRetry: (message) => say.debug(undefined, message),
  });
  return { settings, client, clock: systemClock };
}

async function target(settings: Settings): Promise<{ baseUrl: string; apiKey: string; token: TokenSource }> {
  if (settings.baseUrl.startsWith("embedded:")) {
    // Loaded when it is needed: a program that uses a real service does not pay for it.
    const { embedded } = require("../service/embedded") as typeof import("../service/embedded");
    const { url, key } = await embedded(settings.baseUrl.slice("embedded:".length));
    const endpoint = { url: `${url}/oauth/token`, clientId: "pulumi-recommender", clientSecret: key };
    return {
      baseUrl: url,
      apiKey: key,
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

/** Credentials that the stack keeps in the clear. */
export function plainSecrets(
  get: (key: SettingKey) => string | undefined,
  isSecret: (key: SettingKey) => boolean,
): SettingKey[] {
  return secretKeys.filter((key) => get(key) !== undefined && !isSecret(key));
}
