import type { Reply, routes } from "../contract";
import type { Client } from "./client";
import { type Clock, systemClock } from "./clock";
import { connect } from "./connection";
import { say } from "./engine-log";
import { Listing } from "./listing";
import { type SettingKey, type Settings, secretKeys } from "./settings";

/** What one run has done so far, as far as its other lifecycles need to know. */
export class Run {
  /** Jobs that it submitted: their failure belongs to this run, not to an earlier one. */
  readonly submitted = new Set<string>();
  /** Projects whose deployment it has made: what stood there before is not to be shut down. */
  readonly deployed = new Set<string>();
  /** Ids of what it made: that did not come of any other call. */
  readonly made = new Set<string>();
  /** Ids of what an earlier run made and this one has taken up. */
  readonly takenUp = new Set<string>();
  /** What the state holds in place of ids that are not known, by resource. */
  readonly unknown = new Map<string, string>();
  /** Lists as they were before it made anything. */
  readonly listedBefore = new Map<string, Promise<unknown>>();
  /** Creations that others wait for. */
  readonly turns = new Map<string, Promise<unknown>>();
  /** Whether it was told that creations cannot be written down. */
  warnedOfJournal = false;
  readonly eventDatasets = new Listing<Reply<typeof routes.getEventDataset>>();
  readonly models = new Listing<Reply<typeof routes.getModel>>();
}

/** What the lifecycles of one run share: the configuration, the client, the clock and what was done. */
export interface Session {
  readonly settings: Settings;
  readonly client: Client;
  readonly clock: Clock;
  readonly run: Run;
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

/** Has a configuration served by a session that is made elsewhere: each counts as a run of its own. */
export function useSession(session: Session): void {
  sessions.set(JSON.stringify(session.settings), Promise.resolve(session));
}

async function start(settings: Settings): Promise<Session> {
  const client = await connect(settings, { onRetry: (message) => say.debug(undefined, message) });
  return { settings, client, clock: systemClock, run: new Run() };
}

/** Credentials that the stack keeps in the clear. */
export function plainSecrets(
  get: (key: SettingKey) => string | undefined,
  isSecret: (key: SettingKey) => boolean,
): SettingKey[] {
  return secretKeys.filter((key) => get(key) !== undefined && !isSecret(key));
}
