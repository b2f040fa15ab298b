import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceError } from "./base/error";
import { closeServer, closeWhenIdle, runAll } from "./closing";
import { compose, type Opened, open, Sweeper } from "./compose";
import { createDataDirectory, dataDirectoryAt, restrictAccess } from "./files/data-directory";
import { createCopiesDirectory } from "./files/left-behind";
import { lockDataDirectory, removeRunning, writeRunning } from "./files/lock";
import { openFiles } from "./files/storage/open";
import { cleanUp, keepLogShort, runHousekeeping } from "./housekeeping";
import type { ServerContext } from "./http/context";
import { listen } from "./http/listen";
import { createServer } from "./http/server";
import type { StartOptions } from "./options";
import { followOtherProcesses, sendHeartbeats } from "./other-processes";
import { withoutPassword } from "./store/address";
import { unusable } from "./store/database";
import { isOutage } from "./store/postgres-errors";

/** A running service. */
export interface Service {
  /** The base URL on this machine. */
  readonly url: string;
  readonly dataDir: string;
  /** The data directory, or the URL of the database without its password. */
  readonly place: string;
  readonly key: string;
  readonly keyFile: string;
  /** Problems that did not prevent the start but that the user should know about, such as a changed port. */
  readonly warnings: readonly string[];
  /** Resolves when no job is pending or running. */
  idle(): Promise<void>;
  /** Stops the service. The next start runs the interrupted jobs again. */
  close(): Promise<void>;
}

/** Starts the recommendation service in this process. */
export async function startService(options: StartOptions = {}): Promise<Service> {
  const newDirectory = () =>
    options.store === undefined ? mkdtempSync(join(tmpdir(), "recommender-")) : createCopiesDirectory();
  const dataDirectory = dataDirectoryAt(options.dataDir ?? newDirectory());
  // Processes that share a database have to share their models and results too.
  const { files: url = options.store } = options;
  const files = openFiles(
    url === undefined ? { directory: dataDirectory.path } : { directory: dataDirectory.copies, url },
  );
  createDataDirectory(dataDirectory);
  const unlock = lockDataDirectory(dataDirectory);
  try {
    // From now on, a process that finds the directory locked can report which process uses it.
    writeRunning(dataDirectory, { pid: process.pid });
    restrictAccess(dataDirectory);
    // Trainer commands of a killed process may have left files.
    rmSync(dataDirectory.work, { recursive: true, force: true });
    return await serveDirectory(await open(dataDirectory, files, options), unlock, options);
  } catch (error) {
    files.close();
    unlock();
    // An outage may also begin after the database was opened.
    if (options.store !== undefined && isOutage(error)) throw unusable(error, options.store);
    const { code, message } = error as NodeJS.ErrnoException;
    if (!/^(ENOSPC|EDQUOT|EFBIG|EROFS)$/.test(code ?? "")) throw error;
    throw new Error(
      `The service cannot write to ${dataDirectory.path} (${message}). Check the disk space and the quota, and that the file system is not read-only.`,
      {
        cause: error,
      },
    );
  }
}

async function serveDirectory(opened: Opened, unlock: () => void, options: StartOptions): Promise<Service> {
  const { dataDirectory, files, store, clock, log, secrets, addresses } = opened.context;
  const sweeper = new Sweeper(opened.context);
  const context = await compose(opened, sweeper, options);
  let lastUse = clock.now();
  const app = createServer(context, () => {
    lastUse = clock.now();
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    opened.stop.abort();
    closed ??= runAll(
      [
        () => closeServer(app, clock),
        () => context.jobs.close(),
        () => (store.isShared ? opened.processes.leave() : undefined),
        () => sweeper.settled,
        () => removeRunning(dataDirectory),
        () => store.close(),
        () => files.close(),
        opened.endLog,
        unlock,
      ],
      log,
    ).then(() => {
      if (options.dataDir === undefined) rmSync(dataDirectory.path, { recursive: true, force: true });
    });
    return closed;
  };

  const warnings: string[] = [];
  try {
    if (store.isShared) void sendHeartbeats(context, opened.processes);
    await recover(context, warnings);
    const url = await listen(app, dataDirectory, options, warnings);
    addresses.localUrl = url;
    startBackgroundWork(context);
    writeRunning(dataDirectory, { pid: process.pid, url, instanceId: store.instanceId });
    for (const warning of warnings) log.warn(warning);
    log.info({ url, dataDir: dataDirectory.path }, "ready");
  } catch (error) {
    await close();
    throw error;
  }
  if (options.idleMinutes !== undefined) {
    const closeIdle = () => close().then(() => options.onIdle?.());
    void closeWhenIdle(context, options.idleMinutes * 60_000, () => lastUse, closeIdle);
  }
  return {
    url: addresses.localUrl,
    dataDir: dataDirectory.path,
    place: store.isShared ? withoutPassword(store.location) : dataDirectory.path,
    key: secrets.key,
    keyFile: dataDirectory.keyFile,
    warnings,
    idle: () => context.jobs.idle(),
    close,
  };
}

/** Cleans up after earlier processes and loads the deployments, before the first call is accepted. */
async function recover(context: ServerContext, warnings: string[]): Promise<void> {
  const { files, store, jobs, log, role, serving } = context;
  await files.check(store.instanceId);
  if (!store.isShared)
    await jobs.recover().catch((error) => {
      // On a full disk, the service can still answer calls that only read. `Jobs.watch` tries the recovery again.
      if (!(error instanceof ServiceError)) throw error;
      warnings.push(error.message);
    });
  await cleanUp(context).catch((error) => log.error({ err: error }, "cleanup failed; trying again later"));
  if (role !== "worker") await serving.sync();
}

function startBackgroundWork(context: ServerContext): void {
  const { store, jobs, role } = context;
  if (role !== "api") void jobs.watch();
  if (store.isShared) followOtherProcesses(context);
  else void keepLogShort(context);
  void runHousekeeping(context);
  context.sweep();
}
