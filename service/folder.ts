import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Database from "libsql";

/** The places of everything that a service keeps. */
export interface Folder {
  readonly path: string;
  readonly database: string;
  readonly keyFile: string;
  readonly secretFile: string;
  /** The port, chosen once. */
  readonly portFile: string;
  /** Who serves the folder now; left behind by a killed process. */
  readonly runningFile: string;
  readonly logFile: string;
  modelFile(modelId: string): string;
  resultFile(jobId: string, form: string): string;
}

/** What a service writes down about itself while it runs. */
export interface Running {
  readonly url: string;
  readonly pid: number;
}

/** Names the places in a data folder; makes nothing. */
export function folderAt(path: string): Folder {
  const root = resolve(path);
  const at = (...names: string[]) => join(root, ...names);
  return {
    path: root,
    database: at("data.db"),
    keyFile: at("key"),
    secretFile: at("secret"),
    portFile: at("port"),
    runningFile: at("running.json"),
    logFile: at("service.log"),
    modelFile: (modelId) => at("models", modelId),
    resultFile: (jobId, form) => at("results", `${jobId}.${form}`),
  };
}

/** Makes the folder, readable by its owner alone, for the key that opens everything lies in it. */
export function makeFolder(folder: Folder): void {
  mkdirSync(folder.path, { recursive: true, mode: 0o700 });
  for (const name of ["models", "results"]) mkdirSync(join(folder.path, name), { recursive: true });
  // A data folder inside a repository must not be committed, the key least of all.
  const ignore = join(folder.path, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
}

/** Keeps the folder for this process; the operating system gives it free at the process's death, however it comes. */
export function lockFolder(folder: Folder): () => void {
  const lock = new Database(join(folder.path, "lock"));
  try {
    lock.exec("PRAGMA locking_mode=EXCLUSIVE");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    const running = readRunning(folder);
    throw new FolderBusyError(
      `The folder ${folder.path} is already served${running ? ` by process ${running.pid} at ${running.url}` : ""}; ` +
        `use that one, end it with \`recommender stop --data ${folder.path}\`, or give another folder with --data.`,
      { cause: error },
    );
  }
  let held = true;
  return () => {
    if (held) lock.close();
    held = false;
  };
}

/** Says that another process serves the folder. */
export class FolderBusyError extends Error {
  override readonly name = "FolderBusyError";
}

/** The text of a file that only its owner may read, made once. */
export function secretText(file: string, prefix = ""): string {
  if (!existsSync(file)) writeWhole(file, `${prefix}${randomBytes(24).toString("base64url")}\n`);
  chmodSync(file, 0o600);
  return readFileSync(file, "utf8").trim();
}

/** Who serves the folder, as far as is written there; that process may be dead. */
export function readRunning(folder: Folder): Running | undefined {
  try {
    return JSON.parse(readFileSync(folder.runningFile, "utf8")) as Running;
  } catch {
    return undefined;
  }
}

/** The port that was chosen for the folder, if one was. */
export function readPort(folder: Folder): number | undefined {
  try {
    return Number(readFileSync(folder.portFile, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file as a whole or not at all, for a kill may come at any moment. */
export function writeWhole(file: string, content: string | Uint8Array): void {
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, content, { mode: 0o600 });
  renameSync(part, file);
}

/** Forgets that the service runs. */
export function forgetRunning(folder: Folder): void {
  rmSync(folder.runningFile, { force: true });
}
