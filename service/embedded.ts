import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Folder, folderAt, readRunning } from "./folder";
import { ownFile, processArguments } from "./own-file";

/** How to reach a service that serves a folder. */
export interface Reachable {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
}

/** The exit code of a process that found its folder served by another. */
export const folderBusyExitCode = 3;

const patienceMs = 30_000;

/**
 * Connects to the service of a folder; where none runs, one is started as a process of its own,
 * which outlives this one and ends by itself when nobody has used it for a while.
 * However many processes ask at once, they end up at the same service: the folder's lock decides.
 */
export async function embedded(
  dir: string,
  { idleMinutes = 30 }: { idleMinutes?: number } = {},
): Promise<Reachable> {
  const folder = folderAt(dir);
  const until = Date.now() + patienceMs;
  let child: ReturnType<typeof startDetached> | undefined;
  for (;;) {
    const found = await findRunning(folder);
    if (found) return found;
    if (Date.now() > until) {
      throw new Error(
        `The service of ${folder.path} did not answer within ${patienceMs / 1000} s; see ${folder.logFile}.`,
      );
    }
    child ??= startDetached(folder, idleMinutes);
    if (child.ended() === folderBusyExitCode) child = undefined;
    else if (child.ended() !== undefined) {
      throw new Error(
        `The service of ${folder.path} ended at its start; see ${folder.logFile}, or run \`recommender serve --data ${folder.path}\`.`,
      );
    }
    await sleep(25);
  }
}

/** The service that answers for a folder, if one does; what a dead process left behind does not count. */
export async function findRunning(folder: Folder): Promise<Reachable | undefined> {
  const running = readRunning(folder);
  if (!running || !existsSync(folder.keyFile)) return undefined;
  const key = readFileSync(folder.keyFile, "utf8").trim();
  try {
    const answer = await fetch(`${running.url}/status`, {
      headers: { apikey: key },
      signal: AbortSignal.timeout(5000),
    });
    const { data_dir: dataDir, pid } = (await answer.json()) as { data_dir?: string; pid: number };
    return dataDir === folder.path ? { url: running.url, key, pid } : undefined;
  } catch {
    return undefined;
  }
}

function startDetached(folder: Folder, idleMinutes: number) {
  mkdirSync(folder.path, { recursive: true, mode: 0o700 });
  const log = openSync(folder.logFile, "a", 0o600);
  const child = spawn(
    process.execPath,
    [
      ...processArguments(),
      ownFile("..", "cli", "main"),
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
  return { ended: () => child.exitCode ?? (child.signalCode ? 1 : undefined) };
}

/** Debuggers and loaders of this process are not meant for the other. */
function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  return environment;
}
