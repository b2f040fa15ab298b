import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ownFile, processArguments } from "./base/own-file";
import { isProof, proofOf } from "./base/proof";
import { ensureFolder, type Folder, folderAt, isDataFolder, readSecret, refuseForeign } from "./files/folder";
import { isLocked, isOfFirstVersion, nameSettlesMs, readRunning } from "./files/lock";

export { deleteData, type Folder, folderAt, isDataFolder, refuseForeign } from "./files/folder";
export { instanceIn } from "./files/instance";
export { isLocked, lockFolder, nameSettlesMs, readRunning } from "./files/lock";
export { statusReply } from "./http/status";

/** How to reach a service that serves a folder. */
export interface Reachable {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** Of the data in the folder: another one after a reset. */
  readonly instanceId: string;
}

/** The service of a folder, and what it took to reach it. */
export interface Embedded extends Reachable {
  /** Whether this call started its process. */
  readonly started: boolean;
  /** Whether this call created the folder. */
  readonly created: boolean;
}

/** A data folder, found as it is. */
export interface Existing {
  readonly dir: string;
  /** Missing while no process serves it. */
  readonly running: Reachable | undefined;
}

/** The exit code of a process that found its folder served by another. */
export const folderBusyExitCode = 3;

/** How long a service may take to start while its process lives: on a busy machine, many times as long as elsewhere. */
const startMs = 600_000;

/**
 * Connects to the service of a folder; where none runs, one is started as a process of its own,
 * which outlives this one and ends by itself when nobody has used it for a while.
 * However many processes ask at once, they end up at the same service: the folder's lock decides.
 */
export async function embedded(
  dir: string,
  /** `patienceMs` is how long a service that has started may stay silent. */
  { idleMinutes = 30, patienceMs = 30_000 }: { idleMinutes?: number; patienceMs?: number } = {},
): Promise<Embedded> {
  const folder = folderAt(dir);
  refuseForeign(folder);
  const wasThere = isDataFolder(folder);
  const began = Date.now();
  let silentSince = began;
  let child: ReturnType<typeof startDetached> | undefined;
  for (;;) {
    const found = await findRunning(folder);
    if (found) {
      const started = found.pid === child?.pid;
      // One that came too late must not take the folder when this service is stopped.
      if (!started) await child?.end();
      return { ...found, started, created: started && !wasThere };
    }
    const now = Date.now();
    if (child || !hasStarted(folder)) silentSince = now;
    const limitMs = isServedByFirstVersion(folder) ? nameSettlesMs : patienceMs;
    if (now - silentSince > limitMs || now - began > startMs) throw new Error(noAnswer(folder));
    if (!isLocked(folder)) child ??= startDetached(folder, idleMinutes);
    if (child?.ended() === folderBusyExitCode) child = undefined;
    else if (child?.ended() !== undefined) {
      throw new Error(
        `The service of ${folder.path} ended at its start; see ${folder.logFile}, or run \`recommender serve --data ${folder.path}\`.`,
      );
    }
    await sleep(25);
  }
}

/** What is in a folder, found without making or starting anything; nothing where no service has kept data. */
export async function existing(dir: string): Promise<Existing | undefined> {
  const folder = folderAt(dir);
  if (!isDataFolder(folder)) return undefined;
  return { dir: folder.path, running: await findRunning(folder) };
}

/** The service that serves a folder, if one does; the key is not shown to anybody else who holds its port. */
export async function findRunning(folder: Folder): Promise<Reachable | undefined> {
  if (!isLocked(folder) || !existsSync(folder.keyFile)) return undefined;
  const { url, pid, instanceId } = readRunning(folder) ?? {};
  if (url === undefined || pid === undefined || instanceId === undefined) return undefined;
  const key = readSecret(folder.keyFile);
  const challenge = randomBytes(24).toString("base64url");
  try {
    const answer = await fetch(`${url}/proof?challenge=${challenge}`, {
      redirect: "error",
      signal: AbortSignal.timeout(5000),
    });
    const { proof } = (await answer.json()) as { proof?: unknown };
    const proven = isProof(String(proof), proofOf(key, { url, pid }, challenge));
    return proven ? { url, key, pid, instanceId } : undefined;
  } catch {
    return undefined;
  }
}

function isServedByFirstVersion(folder: Folder): boolean {
  const running = readRunning(folder);
  return running !== undefined && isOfFirstVersion(running) && isLocked(folder);
}

/** Whether a process has the folder and says where it serves it. */
function hasStarted(folder: Folder): boolean {
  return readRunning(folder)?.url !== undefined && isLocked(folder);
}

function noAnswer(folder: Folder): string {
  if (isLocked(folder)) return notAnswering(folder);
  return `The service of ${folder.path} did not start within ${startMs / 60_000} minutes; see ${folder.logFile}.`;
}

/** Why the process that serves a folder cannot be used, and what to do. */
export function notAnswering(folder: Folder, path = folder.path): string {
  const { pid } = readRunning(folder) ?? {};
  const why = isServedByFirstVersion(folder)
    ? "is of version 0.1.0, which this version cannot recognise"
    : `does not answer; see ${folder.logFile}`;
  return (
    `The folder ${path} is served by ${pid === undefined ? "a process" : `process ${pid}`}, which ${why}. ` +
    `End it with \`recommender stop --data ${path}\` and try again: its data stays.`
  );
}

function startDetached(folder: Folder, idleMinutes: number) {
  ensureFolder(folder.path);
  const log = openSync(folder.logFile, "a", 0o600);
  const child = spawn(
    process.execPath,
    [
      ...processArguments(),
      ownFile("cli/main"),
      "serve",
      "--data",
      folder.path,
      "--idle-minutes",
      String(idleMinutes),
      "--json",
    ],
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

/** What a process needs to run at all; the credentials of this one are none of the service's business. */
const passedOn =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|TZ|LANG|LANGUAGE|LC_\w+|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA)$/i;

function childEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name)));
}
