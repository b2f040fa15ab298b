import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Addresses, isLoopback } from "./base/addresses";
import { type Clock, systemClock } from "./base/clock";
import { ServiceError } from "./base/error";
import { Faults } from "./base/faults";
import { newId } from "./base/id";
import { Metrics } from "./base/metrics";
import { RecentCalls } from "./base/recent-calls";
import { closeAll, closeServer, closeWhenIdle } from "./closing";
import type { Basis, Options } from "./files/basis";
import { closeToOthers, type Folder, folderAt, makeFolder, type Secrets, secretText } from "./files/folder";
import { copiesFolder } from "./files/left-behind";
import { forgetRunning, lockFolder, writeRunning } from "./files/lock";
import { createLog, type LogTarget } from "./files/log";
import type { Files } from "./files/places/files";
import { openFiles } from "./files/places/open";
import { keepLogShort, keepTidy, tidy } from "./housekeeping";
import type { ServerContext } from "./http/context";
import { Idempotency } from "./http/idempotency";
import { listen } from "./http/listen";
import { createServer } from "./http/server";
import { Tokens } from "./http/token";
import { keepBeating, keepInStep } from "./in-step";
import { Jobs } from "./jobs/runner";
import { Serving } from "./serving/serving";
import { withoutPassword } from "./store/address";
import { type Db, openStore, signingSecret, unusable } from "./store/database";
import { lastSeqIn } from "./store/events";
import { isOutage } from "./store/postgres-errors";
import { arrive, Processes, type Role } from "./store/processes";
import { sweepDeleted } from "./store/sweep";
import { Walks } from "./store/walks";
import { Pool } from "./threads/pool";

/** What a service can be started with. */
export interface StartOptions {
  /** Folder of all data; a temporary one that goes with the service when left out. */
  readonly dataDir?: string;
  /** Bucket of the models and results, such as `s3://models/shop`; in the folder or database unless given. */
  readonly files?: string;
  /** Address of a PostgreSQL database that keeps the data instead, so that many processes can serve it. */
  readonly store?: string;
  /** What this process does of what there is to do over PostgreSQL; all unless given. */
  readonly role?: Role;
  /** The API key of a service over PostgreSQL, the same for all of its processes; otherwise it lies in the folder. */
  readonly key?: string;
  /** Port to listen on; 0 or left out: the one kept in the folder, or a free one that is kept there from then on. */
  readonly port?: number;
  /** Interface to listen on; 127.0.0.1 unless given, for the key travels in the clear. */
  readonly host?: string;
  /** Base address under which others reach the service; that of this machine unless given. */
  readonly publicUrl?: string;
  /** Shards that all event datasets may have together; 100 unless given. */
  readonly planShards?: number;
  /** Milliseconds by which every job is stretched. */
  readonly jobDelayMs?: number;
  /** Milliseconds before a failed job is tried again, four times as long before each further try; 1000 unless given. */
  readonly retryDelayMs?: number;
  /** Milliseconds that a process over PostgreSQL keeps its jobs without a sign of life; 15,000 unless given. */
  readonly leaseMs?: number;
  /** Shell command that trains models, as docs/training.md describes; the service trains them itself unless given. */
  readonly trainer?: string;
  /** Threads in which this process trains, all trainings together; as many as there are cores unless given. */
  readonly threads?: number;
  /** Whether faults may be switched on at run time. */
  readonly faults?: boolean;
  /** Whether the console can be opened; only where nobody but this machine reaches the service, unless given. */
  readonly console?: boolean;
  /** Minutes without a call or a job after which the service closes by itself; never unless given. */
  readonly idleMinutes?: number;
  /** Called when the service has closed by itself. */
  readonly onIdle?: () => void;
  readonly clock?: Clock;
  readonly log?: LogTarget;
}

/** A service that runs. */
export interface Service {
  /** The base address on this machine. */
  readonly url: string;
  readonly dataDir: string;
  /** Where the data lies: the folder, or the database without its password. */
  readonly place: string;
  readonly key: string;
  readonly keyFile: string;
  /** What the start has to say to people, such as a port that had to change. */
  readonly warnings: readonly string[];
  /** Resolves when no job waits or runs. */
  idle(): Promise<void>;
  /** Ends it; the next start resumes the jobs under way. */
  close(): Promise<void>;
}

/** Starts the recommendation service in this process. */
export async function startService(options: StartOptions = {}): Promise<Service> {
  const newFolder = () =>
    options.store === undefined ? mkdtempSync(join(tmpdir(), "recommender-")) : copiesFolder();
  const folder = folderAt(options.dataDir ?? newFolder());
  // Where several processes serve, each must find what another has made.
  const { files: url = options.store } = options;
  const files = openFiles(url === undefined ? { folder: folder.path } : { folder: folder.copies, url });
  makeFolder(folder);
  const unlock = lockFolder(folder);
  try {
    // From here on whoever finds the folder locked reads whose lock it is.
    writeRunning(folder, { pid: process.pid });
    closeToOthers(folder);
    // What the trainers of a killed process had to do.
    rmSync(folder.work, { recursive: true, force: true });
    return await serveFolder(folder, files, unlock, options);
  } catch (error) {
    files.close();
    unlock();
    // An outage may also begin after the database was opened.
    if (options.store !== undefined && isOutage(error)) throw unusable(error, options.store);
    const { code, message } = error as NodeJS.ErrnoException;
    if (!/^(ENOSPC|EDQUOT|EFBIG|EROFS)$/.test(code ?? "")) throw error;
    throw new Error(`The service cannot write to ${folder.path} (${message}); free space there.`, {
      cause: error,
    });
  }
}

async function serveFolder(
  folder: Folder,
  files: Files,
  unlock: () => void,
  options: StartOptions,
): Promise<Service> {
  const end = new AbortController();
  const clock = options.clock ?? systemClock;
  const role = options.role ?? "all";
  const processId = newId("process");
  const self = options.store === undefined ? {} : { processId, role };
  const { log, end: endLog } = createLog(options.log ?? "file", folder, self);
  const key = options.store === undefined ? secretText(folder.keyFile, "rk_") : keyOf(options);
  const ownSecret = options.store === undefined ? secretText(folder.secretFile) : undefined;
  // The sign of life comes first: a restore that begins from now on sees that the database is served.
  const opening =
    options.store === undefined
      ? { hasLogThread: true }
      : { arrive: (db: Db) => arrive(db, { id: processId, role }) };
  const store = await openStore(options.store ?? folder.database, opening);
  const secrets: Secrets = { key, signing: ownSecret ?? (await signingSecret(store)) };
  const processes = new Processes(store, processId, role);
  let seq = store.shared ? 0 : await lastSeqIn(store.db);
  let lastUse = clock.now();
  let sweeping = Promise.resolve();

  const basis: Basis = {
    options: optionsOf(options),
    clock,
    log,
    metrics: new Metrics(),
    recentCalls: new RecentCalls(() => clock.now()),
    folder,
    files,
    secrets,
    store,
    addresses: new Addresses(options.publicUrl),
    processId,
    role,
    closing: end.signal,
  };
  const servingContext = { ...basis, pool: new Pool(basis), share: () => 1 / processes.apis };
  const jobContext = {
    ...servingContext,
    serving: new Serving(servingContext),
    faults: new Faults(options.jobDelayMs ?? 0),
  };
  const context: ServerContext = {
    ...jobContext,
    jobs: new Jobs(jobContext),
    takeSeqs: (count) => {
      seq += count;
      return seq - count + 1;
    },
    lastSeq: () => seq,
    walks: new Walks(clock),
    sweep: () => {
      sweeping = sweeping
        .then(() => sweepDeleted(basis))
        .catch((error) => log.error({ err: error }, "sweep failed"));
    },
    tokens: new Tokens(basis),
    idempotency: new Idempotency(store, () => clock.now()),
    startedTs: clock.now(),
  };
  const { addresses, jobs, serving } = context;

  const app = createServer(context, () => {
    lastUse = clock.now();
  });
  const warnings: string[] = [];
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= (async () => {
      end.abort();
      const steps = [
        () => closeServer(app, clock),
        () => jobs.close(),
        () => (store.shared ? processes.leave() : undefined),
        () => sweeping,
        () => forgetRunning(folder),
        () => store.close(),
        () => files.close(),
        endLog,
        unlock,
      ];
      await closeAll(steps, log);
      if (options.dataDir === undefined) rmSync(folder.path, { recursive: true, force: true });
    })();
    return closed;
  };

  try {
    // What an earlier process left is set right before the first call can come in between.
    if (store.shared) void keepBeating(context, processes);
    await files.check(store.instanceId);
    if (!store.shared)
      await jobs.recover().catch((error) => {
        // On a full disk the service still answers calls that only read; the queue is checked again later.
        if (!(error instanceof ServiceError)) throw error;
        warnings.push(error.message);
      });
    await tidy(context).catch((error) => log.error({ err: error }, "tidying up failed; trying again later"));
    if (role !== "worker") await serving.sync();
    addresses.localUrl = await listen(app, folder, options, warnings);
    const url = addresses.localUrl;
    if (role !== "api") void jobs.watch();
    if (store.shared) keepInStep(context);
    else void keepLogShort(context);
    void keepTidy(context);
    context.sweep();
    writeRunning(folder, { pid: process.pid, url, instanceId: store.instanceId });
    for (const warning of warnings) log.warn(warning);
    log.info({ url, dataDir: folder.path }, "ready");
  } catch (error) {
    await close();
    throw error;
  }
  if (options.idleMinutes !== undefined) {
    void closeWhenIdle(
      context,
      options.idleMinutes * 60_000,
      () => lastUse,
      async () => {
        await close();
        options.onIdle?.();
      },
    );
  }
  return {
    url: addresses.localUrl,
    dataDir: folder.path,
    place: store.shared ? withoutPassword(store.place) : folder.path,
    key: secrets.key,
    keyFile: folder.keyFile,
    warnings,
    idle: () => jobs.idle(),
    close,
  };
}

function keyOf({ key }: StartOptions): string {
  if (key !== undefined && key.length >= 20) return key;
  throw new Error(
    "A service over PostgreSQL needs the API key that its clients show, 20 characters or more, the same in all of its " +
      "processes: set RECOMMENDER_API_KEY, for example to the output of `openssl rand -base64 24`.",
  );
}

function optionsOf(options: StartOptions): Options {
  const { planShards = 100, retryDelayMs = 1000, leaseMs = 15_000, faults = false, trainer } = options;
  const { threads = availableParallelism() } = options;
  const isPrivate = [options.host, options.publicUrl].every((one) => one === undefined || isLoopback(one));
  return {
    planShards,
    retryDelayMs,
    leaseMs,
    faults,
    console: options.console ?? isPrivate,
    trainer,
    threads,
  };
}
