import type { Client } from "./client";
import { type Clock, systemClock } from "./clock";
import { connect } from "./connection";
import { say } from "./engine-log";
import { type SettingKey, type Settings, secretKeys } from "./settings";

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
    session = start(settings);
    session.catch(() => sessions.delete(key));
    sessions.set(key, session);
  }
  return session;
}

async function start(settings: Settings): Promise<Session> {
  const client = await connect(settings, { onRetry: (message) => say.debug(undefined, message) });
  return { settings, client, clock: systemClock };
}

/** Credentials that the stack keeps in the clear. */
export function plainSecrets(
  get: (key: SettingKey) => string | undefined,
  isSecret: (key: SettingKey) => boolean,
): SettingKey[] {
  return secretKeys.filter((key) => get(key) !== undefined && !isSecret(key));
}
