import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { modulePath, processArguments } from "./base/package-paths";
import { isProof, proofOf } from "./base/proof";
import {
  type DataDirectory,
  dataDirectoryAt,
  ensureDirectory,
  isDataDirectory,
  readSecret,
  refuseForeign,
} from "./files/data-directory";
import { isFirstVersionService, isLocked, readRunning, runningFileDelayMs } from "./files/lock";

export {
  type DataDirectory,
  dataDirectoryAt,
  deleteData,
  isDataDirectory,
  refuseForeign,
} from "./files/data-directory";
export { instanceIn } from "./files/instance";
export { isLocked, lockDataDirectory, lockFile, readRunning, runningFileDelayMs } from "./files/lock";
export { statusReply } from "./http/status";

/** Address, key and process of the service that runs on a data directory. */
export interface Reachable {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** Id of the data in the directory. It changes with a reset. */
  readonly instanceId: string;
}

/** Result of {@link embedded}. */
export interface Embedded extends Reachable {
  /** Whether this call started the service. */
  readonly started: boolean;
  /** Whether this call created the data directory. */
  readonly created: boolean;
}

/** Result of {@link existing}. */
export interface Existing {
  readonly dir: string;
  /** The running service; undefined if no service runs on the directory. */
  readonly running: Reachable | undefined;
}

/** Exit code of a service that did not start because another process uses the data directory. */
export const directoryBusyExitCode = 3;

/** How long to wait for a service to start. On a busy machine, this takes many times longer than usual. */
const startMs = 600_000;

/**
 * Returns the service that runs on a data directory, and starts one if there is none. The service is a detached process
 * that outlives this one and stops when idle. Concurrent callers get the same service, because it locks the directory.
 * @param options.patienceMs how long to wait for a service that has started but does not respond
 */
export async function embedded(
  dir: string,
  { idleMinutes = 30, patienceMs = 30_000 }: { idleMinutes?: number; patienceMs?: number } = {},
): Promise<Embedded> {
  const dataDirectory = dataDirectoryAt(dir);
  refuseForeign(dataDirectory);
  const wasThere = isDataDirectory(dataDirectory);
  const began = Date.now();
  let silentSince = began;
  let child: ReturnType<typeof startDetached> | undefined;
  for (;;) {
    const found = await findRunning(dataDirectory);
    if (found) {
      const started = found.pid === child?.pid;
      // Otherwise the process that this call started would take over the directory when the other service stops.
      if (!started) await child?.end();
      return { ...found, started, created: started && !wasThere };
    }
    const now = Date.now();
    if (child || !hasStarted(dataDirectory)) silentSince = now;
    const limitMs = isServedByFirstVersion(dataDirectory) ? runningFileDelayMs : patienceMs;
    if (now - silentSince > limitMs || now - began > startMs) throw new Error(timeoutMessage(dataDirectory));
    if (!isLocked(dataDirectory)) child ??= startDetached(dataDirectory, idleMinutes);
    if (child?.ended() === directoryBusyExitCode) child = undefined;
    else if (child?.ended() !== undefined) {
      throw new Error(
        `The service on ${dataDirectory.path} failed to start. For the reason, see ${dataDirectory.logFile}, ` +
          `or run \`recommender serve --data ${dataDirectory.path}\`.`,
      );
    }
    await sleep(25);
  }
}

/** Finds a data directory without creating or starting anything. Returns undefined if the directory has no data. */
export async function existing(dir: string): Promise<Existing | undefined> {
  const dataDirectory = dataDirectoryAt(dir);
  if (!isDataDirectory(dataDirectory)) return undefined;
  return { dir: dataDirectory.path, running: await findRunning(dataDirectory) };
}

/**
 * Finds the service that runs on a data directory. The service must prove that it knows the key before the key is sent
 * to it.
 */
export async function findRunning(dataDirectory: DataDirectory): Promise<Reachable | undefined> {
  if (!isLocked(dataDirectory) || !existsSync(dataDirectory.keyFile)) return undefined;
  const { url, pid, instanceId } = readRunning(dataDirectory) ?? {};
  if (url === undefined || pid === undefined || instanceId === undefined) return undefined;
  const key = readSecret(dataDirectory.keyFile);
  const challenge = randomBytes(24).toString("base64url");
  try {
    const response = await fetch(`${url}/proof?challenge=${challenge}`, {
      redirect: "error",
      signal: AbortSignal.timeout(5000),
    });
    const { proof } = (await response.json()) as { proof?: unknown };
    const proven = isProof(String(proof), proofOf(key, { url, pid }, challenge));
    return proven ? { url, key, pid, instanceId } : undefined;
  } catch {
    return undefined;
  }
}

function isServedByFirstVersion(dataDirectory: DataDirectory): boolean {
  const running = readRunning(dataDirectory);
  return running !== undefined && isFirstVersionService(running) && isLocked(dataDirectory);
}

/** Whether a process has locked the directory and published its address. */
function hasStarted(dataDirectory: DataDirectory): boolean {
  return readRunning(dataDirectory)?.url !== undefined && isLocked(dataDirectory);
}

function timeoutMessage(dataDirectory: DataDirectory): string {
  if (isLocked(dataDirectory)) return notAnswering(dataDirectory);
  return `The service on ${dataDirectory.path} did not start within ${startMs / 60_000} minutes. See ${dataDirectory.logFile}.`;
}

/** Returns the message about a process that uses the data directory but does not respond. */
export function notAnswering(dataDirectory: DataDirectory, path = dataDirectory.path): string {
  const { pid } = readRunning(dataDirectory) ?? {};
  const why = isServedByFirstVersion(dataDirectory)
    ? "is version 0.1.0 and cannot be used by this version"
    : `does not respond (see ${dataDirectory.logFile})`;
  return (
    `The data directory ${path} is in use by ${pid === undefined ? "a process" : `process ${pid}`}, which ${why}. ` +
    `Run \`recommender stop --data ${path}\` and try again. The data is kept.`
  );
}

function startDetached(dataDirectory: DataDirectory, idleMinutes: number) {
  ensureDirectory(dataDirectory.path);
  const log = openSync(dataDirectory.logFile, "a", 0o600);
  const options = ["--data", dataDirectory.path, "--idle-minutes", String(idleMinutes), "--json"];
  const child = spawn(
    process.execPath,
    [...processArguments(), modulePath("cli/main"), "serve", ...options],
    { detached: true, stdio: ["ignore", log, log], env: childEnvironment() },
  );
  closeSync(log);
  child.unref();
  const ended = () => child.exitCode ?? (child.signalCode ? 1 : undefined);
  return {
    pid: child.pid,
    ended,
    end: async () => {
      child.ref();
      if (ended() === undefined && child.kill("SIGKILL")) await once(child, "exit");
    },
  };
}

/**
 * Names of the environment variables that are passed to the service. Credentials are not passed on, except those of the
 * collector of traces. OTEL_SERVICE_NAME is not passed on, because it names this process.
 */
const passedOn =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|TZ|LANG|LANGUAGE|LC_\w+|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|OTEL_(?!SERVICE_NAME$)\w+)$/i;

function childEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name)));
}
