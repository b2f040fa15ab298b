import { resolve } from "node:path";
import { Client } from "../../client/client";
import { type Clock, systemClock } from "../../client/clock";
import { resolveTarget } from "../../client/connect";
import { isOutage } from "../../client/errors";
import { ignoreHint } from "../../client/git-ignore";
import { embeddedDirectory, hasTokenSource, type Settings } from "../../client/settings";
import { isUnreachable } from "../../client/unreachable";
import { type Reply, routes } from "../../contract";
import type { VisibleObjects } from "./account";
import { cancelled as engineCancelled, stopped } from "./cancellation";
import { Claims } from "./claims";
import { log, type Urn } from "./engine";
import { Listing } from "./listing";
import { masked } from "./masking";
import { PendingOperations } from "./pending-operations";
import { cliStackState, type StackState } from "./stack-state";
import { TrainingData } from "./training-data";
import { partsOf } from "./urn";

/** What one run has done so far, as far as its other lifecycles need to know. */
export class Run {
  /** Jobs that it submitted: their failure belongs to this run, not to an earlier one. */
  readonly submitted = new Set<string>();
  /** When it submitted jobs, by their ids. */
  readonly submittedAt = new Map<string, number>();
  /** Sources of records in words, by their content hashes. */
  readonly sourceNames = new Map<string, string>();
  /** What the resources of the stack hold: nothing is deleted that another one holds. */
  readonly claims: Claims;
  /** Projects that it has taken out of service, with whatever it had deployed there before. */
  readonly shutDown = new Set<string>();
  /** Resources that the state held when they were checked: what it creates for one of them replaces it. */
  readonly inState = new Set<Urn>();
  /** Resources that it is to replace. */
  readonly replacing = new Set<Urn>();
  /** Resources whose replacement a comparison with the state has decided; the engine forces any other replacement. */
  readonly replacedByDiff = new Set<Urn>();
  /** What the program declares to train on. */
  readonly trainingData = new TrainingData((urn) => !this.inState.has(urn) || this.replacing.has(urn));
  /** Resources that it has compared with the state or created: the others are not targeted, or come later. */
  readonly reached = new Set<Urn>();
  /** The resources that deploy to projects. */
  readonly deployers = new Map<string, Urn>();
  /** Ids of what it created, by the call: no other call created them. */
  readonly created = new Map<string, Set<string>>();
  /** What the state holds in place of ids that are not known, by resource. */
  readonly placeholders = new Map<string, string>();
  /** Keys of calls whose outcome it has found out. */
  readonly resolvedCalls = new Set<string>();
  /** Lists as they were before it created anything. */
  readonly listedBefore = new Map<string, Promise<unknown>>();
  /** What the configured key shows of what the stack created with other keys, by their fingerprints. */
  readonly visibleByAccount = new Map<string, Promise<VisibleObjects>>();
  /** Creations that others wait for. */
  readonly creationQueues = new Map<string, Promise<unknown>>();
  /** Whether the credentials have a scope, by the path of the call. */
  readonly scopes = new Map<string, Promise<boolean>>();
  /** The first resource that needs a scope which the credentials lack; others refer to its error. */
  readonly firstLackingScope = new Map<string, string>();
  /** Whether the service gives tokens, where no source of them is set. */
  tokenCheck: Promise<void> | undefined;
  /** The first resource that reported that the service cannot be reached; others refer to its error. */
  firstUnreachable: string | undefined;
  readonly #warned = new Set<string>();
  /** Whether it has warned that the recovery journal cannot be written. */
  warnedOfJournal = false;
  readonly eventDatasets = new Listing<Reply<typeof routes.getEventDataset>>();
  readonly models = new Listing<Reply<typeof routes.getModel>>();
  readonly projects = new Listing<Reply<typeof routes.getProject>>();

  constructor(
    /** What the stacks of the backend hold. */
    readonly stackState: StackState = cliStackState(),
    /** Aborted when the user has asked it to stop. */
    readonly cancelled: AbortSignal = engineCancelled,
    /** What a killed run had begun, as the state has it. */
    readonly pending: PendingOperations = new PendingOperations(),
  ) {
    this.claims = new Claims(stackState);
  }

  /** Warns once: a replacement is checked twice. */
  async warnOnce(urn: Urn, message: string): Promise<void> {
    const key = `${urn} ${message}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    await log.warn(urn, message);
  }
}

/** What the lifecycles of one run share: the configuration, the client, the clock and what was done. */
export interface Session {
  readonly settings: Settings;
  readonly client: Client;
  readonly clock: Clock;
  readonly run: Run;
}

const sessions = new Map<string, Promise<Session>>();
const runs = new Map<string, Run>();

/** What the run under a configuration has done so far; no connection is needed to know it. */
export function runOf(settings: Settings): Run {
  const key = JSON.stringify(settings);
  const run = runs.get(key) ?? new Run();
  runs.set(key, run);
  return run;
}

/** The session for a configuration; the same configuration gets the same session. Hints name the stack of the urn. */
export function openSession(settings: Settings, urn?: Urn): Promise<Session> {
  const key = JSON.stringify(settings);
  let session = sessions.get(key);
  if (!session) {
    session = start(settings, urn);
    session.catch(() => sessions.delete(key));
    sessions.set(key, session);
  }
  return session;
}

/** Has a configuration served by a session that is created elsewhere: each counts as a run of its own. */
export function useSession(session: Session): void {
  sessions.set(JSON.stringify(session.settings), Promise.resolve(session));
  runs.set(JSON.stringify(session.settings), session.run);
}

/**
 * Refuses a configuration that sets no source of tokens, unless the service itself gives them. A service that cannot be
 * reached fails the preview; one that is only overloaded does not.
 */
export async function requireTokens(settings: Settings, urn: Urn): Promise<void> {
  if (hasTokenSource(settings)) return;
  const { client, run } = await openSession(settings, urn);
  run.tokenCheck ??= client.getToken(routes.listEventDatasets).catch((error) => {
    if (isUnreachable(error) || !isOutage(error)) throw error;
  });
  await run.tokenCheck;
}

async function start(settings: Settings, urn: Urn): Promise<Session> {
  const stack = urn && partsOf(urn).stack;
  const whoami = ["recommender whoami", ...(stack ? ["--stack", stack] : [])].join(" ");
  const { started, created, pid, ...reached } = await resolveTarget(settings, whoami);
  const folder = embeddedDirectory(settings.baseUrl);
  if (started && folder !== undefined) {
    const where = `${created ? "a new service of its own" : "the service"} in ${resolve(folder)}`;
    await log.info(undefined, `started ${where} as process ${pid}; set recommender:baseUrl to use another`);
    const hint = created ? await ignoreHint(folder, "the service's data") : undefined;
    if (hint) await log.info(undefined, hint);
  }
  const client = new Client({
    ...reached,
    connections: settings.parallel,
    onRetry: (message) => log.debug(undefined, message),
    onWait: (message) => log.info(undefined, message),
    whoami,
    redact: masked,
    stop: stopped,
  });
  return { settings, client, clock: systemClock, run: runOf(settings) };
}
