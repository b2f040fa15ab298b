import { resolve } from "node:path";
import { Client } from "../../client/client";
import { type Clock, systemClock } from "../../client/clock";
import { resolveTarget } from "../../client/connect";
import { isOutage, isUnreachable } from "../../client/errors";
import { ignoreHint } from "../../client/git-ignore";
import { embeddedDirectory, hasTokenSource, type Settings } from "../../client/settings";
import { type Reply, routes } from "../../contract";
import type { VisibleObjects } from "./account";
import { AttributeSchemas } from "./attribute-schemas";
import { cancelled as engineCancelled, stopped } from "./cancellation";
import { Claims } from "./claims";
import { log, type Urn } from "./engine";
import { InitialState } from "./initial-state";
import { Listing } from "./listing";
import { masked } from "./masking";
import { sharedPromise } from "./promises";
import { type BackendEntries, cliStackState, type StackState } from "./stack-state";
import type { ReplacedEntry } from "./state-entry";
import { TrainingData } from "./training-data";
import { partsOf } from "./urn";

/**
 * Maximum time for reading the states of all stacks. After it, the creates and deletions of a run continue without the
 * remaining states.
 */
const allStacksMs = 20_000;

/** State shared by all resources with the same configuration in one process of the provider. */
export class Run {
  // Jobs. A failed job that is not in this map was submitted by an earlier run. It is submitted again instead of
  // failing this run.
  /** Time at which this run submitted each job, by job id. */
  readonly submitted = new Map<string, number>();

  // References. An object is deleted only if no other state entry references it.
  readonly claims: Claims;
  /** Projects whose deployment this run has shut down. */
  readonly shutDown = new Set<string>();

  // Steps. If this run creates a resource that is in `inState`, it replaces that resource. `replacedByDiff` is a subset
  // of `replacing`, unless a lost create is retried.
  /** Resources that were in the state when they were checked. */
  readonly inState = new Set<Urn>();
  /** Resources that this run replaces. */
  readonly replacing = new Set<Urn>();
  /** Resources that `diff` decided to replace. The engine forces every other replacement. */
  readonly replacedByDiff = new Set<Urn>();
  /**
   * Resources that this run has compared with the state or created. All other resources are not targeted, or come
   * later.
   */
  readonly reached = new Set<Urn>();

  // Declarations. Filled by `check`, in the order in which the engine checks resources.
  /** Events that the program declares for training. */
  readonly trainingData = new TrainingData((urn) => !this.inState.has(urn) || this.replacing.has(urn));
  /** Attribute schemas that the program declares. */
  readonly attributeSchemas = new AttributeSchemas();
  /** Descriptions of record sources, by content hash. */
  readonly sourceNames = new Map<string, string>();
  /** Resource that deploys to each project. */
  readonly deployers = new Map<string, Urn>();

  // Creates. An id in `created` or a key in `resolvedCalls` is never attributed to another call.
  /** Ids that this run created, by path of the call. */
  readonly created = new Map<string, Set<string>>();
  /** Placeholders in the state for unknown ids, by URN. */
  readonly placeholders = new Map<string, string>();
  /** Objects that an interrupted replacement was to delete and that this run keeps, by URN. */
  readonly keptOriginals = new Map<Urn, ReplacedEntry>();
  /** Idempotency keys of the calls whose outcome this run has found out. */
  readonly resolvedCalls = new Set<string>();
  /** Lists of objects as they were before this run created anything. */
  readonly listedBefore = new Map<string, Promise<readonly unknown[]>>();
  /** Last create with each name. Creates with the same name run one after the other. */
  readonly creationQueues = new Map<string, Promise<unknown>>();
  #allStacks: Promise<BackendEntries> | undefined;

  // Credentials. Each question is sent to the service once, and each problem is reported in full once.
  /** Whether the configured key can read the stack's objects, by fingerprint of the key that created them. */
  readonly visibleByAccount = new Map<string, Promise<VisibleObjects>>();
  /** Whether the credentials have the scope of a call, by path. */
  readonly scopes = new Map<string, Promise<boolean>>();
  /** First resource that lacks a scope, by path. Later errors refer to that resource. */
  readonly firstLackingScope = new Map<string, string>();
  /** Check whether the service issues tokens, if no token source is configured. */
  tokenCheck: Promise<void> | undefined;
  /** First resource that reported a problem of the whole service, by problem. Later errors refer to that resource. */
  readonly firstAffected = new Map<string, string>();
  readonly #warned = new Set<string>();

  // Cached lists of objects in the service, shared by all reads of a refresh.
  readonly eventDatasets = new Listing<Reply<typeof routes.getEventDataset>>();
  readonly models = new Listing<Reply<typeof routes.getModel>>();
  readonly projects = new Listing<Reply<typeof routes.getProject>>();

  constructor(
    /** State of the stacks in the backend. */
    readonly stackState: StackState = cliStackState(),
    /** Aborted when the user cancels the run. */
    readonly cancelled: AbortSignal = engineCancelled,
    /** State of this stack at the start of the run. */
    readonly initial: InitialState = new InitialState(),
  ) {
    this.claims = new Claims(stackState, () => this.entriesOfAllStacks());
  }

  /**
   * Returns the entries of all stacks, read at the first create or deletion of the run. If there are very many stacks,
   * only some of them are read.
   */
  entriesOfAllStacks(): Promise<BackendEntries> {
    this.#allStacks ??= this.stackState
      .allStacks(allStacksMs)
      .catch(() => ({ entries: [], lineages: new Map(), unread: ["all stacks"] }));
    return this.#allStacks;
  }

  /** Warns once per `key`. By default a resource logs each message once, because a replacement is checked twice. */
  async warnOnce(urn: Urn, message: string, key = `${urn} ${message}`): Promise<void> {
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    await log.warn(urn, message);
  }
}

/** Configuration, client, clock and shared state of one run. */
export interface Session {
  readonly settings: Settings;
  readonly client: Client;
  readonly clock: Clock;
  readonly run: Run;
}

const sessions = new Map<string, Promise<Session>>();
const runs = new Map<string, Run>();

/** Returns the run of a configuration, without opening a connection. */
export function runOf(settings: Settings): Run {
  const key = JSON.stringify(settings);
  const run = runs.get(key) ?? new Run();
  runs.set(key, run);
  return run;
}

/**
 * Returns the state at the start of this run. Works even if the settings are incomplete, so killed uploads are always
 * noted.
 */
export function initialStateOf(settings: () => Settings): InitialState {
  try {
    return runOf(settings()).initial;
  } catch {
    return withoutSettings;
  }
}

const withoutSettings = new InitialState();

/** Returns the session of a configuration, and opens it on first use. Hints in errors name the stack of `urn`. */
export function openSession(settings: Settings, urn?: Urn): Promise<Session> {
  return sharedPromise(sessions, JSON.stringify(settings), () => start(settings, urn));
}

/** Returns the run of a configuration, and a function that opens its session unless a preview would start a service. */
export function lazySession(
  settings: Settings,
  urn: Urn,
): { readonly run: Run; session(): Promise<Session | undefined> } {
  const isEmbedded = embeddedDirectory(settings.baseUrl) !== undefined;
  const session = async () => (isEmbedded ? undefined : openSession(settings, urn));
  return { run: runOf(settings), session };
}

/** Makes `openSession` return this session for its configuration. Tests start a new run with it. */
export function useSession(session: Session): void {
  sessions.set(JSON.stringify(session.settings), Promise.resolve(session));
  runs.set(JSON.stringify(session.settings), session.run);
}

/**
 * Throws if the configuration has no token source and the service issues no tokens. Also throws if the service is
 * unreachable, but not if it is overloaded.
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
  const directory = embeddedDirectory(settings.baseUrl);
  if (started && directory !== undefined) {
    const service = `${created ? "a new service" : "the service"} in ${resolve(directory)}`;
    await log.info(
      undefined,
      `started ${service} as process ${pid}; set recommender:baseUrl to use a different service`,
    );
    const hint = created ? await ignoreHint(directory, "the service's data") : undefined;
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
