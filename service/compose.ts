import { Addresses } from "./base/addresses";
import { systemClock } from "./base/clock";
import { Faults } from "./base/faults";
import { newId } from "./base/id";
import { Metrics } from "./base/metrics";
import { RecentCalls } from "./base/recent-calls";
import { type DataDirectory, secretText } from "./files/data-directory";
import { createLog } from "./files/log";
import type { ServiceContext } from "./files/service-context";
import type { Files } from "./files/storage/files";
import type { ServerContext } from "./http/context";
import { Idempotency } from "./http/idempotency";
import { PublicKeys } from "./http/public-keys";
import { Tokens } from "./http/token";
import { Jobs } from "./jobs/runner";
import { requireKey, resolveOptions, type StartOptions } from "./options";
import { Serving } from "./serving/serving";
import { type Db, openStore, signingSecret } from "./store/database";
import { lastSeqIn } from "./store/events";
import { Processes, writeHeartbeat } from "./store/processes";
import { sweepDeleted } from "./store/sweep";
import { Walks } from "./store/walks";
import { Pool } from "./threads/pool";

/** Result of {@link open}. */
export interface Opened {
  readonly context: ServiceContext;
  readonly processes: Processes;
  /** Aborts `context.closing`. */
  readonly stop: AbortController;
  readonly endLog: () => void;
}

/** Opens the log, the secrets and the database. */
export async function open(
  dataDirectory: DataDirectory,
  files: Files,
  options: StartOptions,
): Promise<Opened> {
  const resolved = resolveOptions(options);
  const stop = new AbortController();
  const clock = options.clock ?? systemClock;
  const role = options.role ?? "all";
  const processId = newId("process");
  const isShared = options.store !== undefined;
  const { log, end } = createLog(options.log ?? "file", dataDirectory, isShared ? { processId, role } : {});
  const key = isShared ? requireKey(options) : secretText(dataDirectory.keyFile, "rk_");
  const ownSecret = isShared ? undefined : secretText(dataDirectory.secretFile);
  // Writes the heartbeat first, so a restore that begins from now on sees that the database is in use.
  const opening = isShared
    ? { register: (db: Db) => writeHeartbeat(db, { id: processId, role }) }
    : { hasLogThread: true };
  const store = await openStore(options.store ?? dataDirectory.database, opening);
  const context = {
    options: resolved,
    clock,
    log,
    metrics: new Metrics(),
    recentCalls: new RecentCalls(() => clock.now()),
    dataDirectory,
    files,
    secrets: { key, signing: ownSecret ?? (await signingSecret(store)) },
    store,
    addresses: new Addresses(options.publicUrl),
    processId,
    role,
    closing: stop.signal,
  };
  return { context, processes: new Processes(store, processId, role), stop, endLog: end };
}

/** Creates the parts of the service and connects them. */
export async function compose(
  { context, processes }: Opened,
  sweeper: Sweeper,
  options: StartOptions,
): Promise<ServerContext> {
  const { store, clock } = context;
  let seq = store.isShared ? 0 : await lastSeqIn(store.db);
  const servingContext = { ...context, pool: new Pool(context), share: () => 1 / processes.apis };
  const jobContext = {
    ...servingContext,
    serving: new Serving(servingContext),
    faults: new Faults(options.jobDelayMs ?? 0),
  };
  return {
    ...jobContext,
    jobs: new Jobs(jobContext),
    takeSeqs: (count) => {
      seq += count;
      return seq - count + 1;
    },
    lastSeq: () => seq,
    walks: new Walks(clock),
    sweep: () => sweeper.sweep(),
    tokens: new Tokens(context),
    publicKeys: new PublicKeys(servingContext),
    idempotency: new Idempotency(store, () => clock.now()),
    startedTs: clock.now(),
  };
}

/** Deletes the records and events of deleted datasets in the background, one pass at a time. */
export class Sweeper {
  settled = Promise.resolve();

  constructor(private readonly context: ServiceContext) {}

  sweep(): void {
    this.settled = this.settled
      .then(() => sweepDeleted(this.context))
      .catch((error) => this.context.log.error({ err: error }, "sweep failed"));
  }
}
