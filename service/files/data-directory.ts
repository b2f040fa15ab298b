// files/ manages the data directory (secrets, log, lock), and stores models and results.

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { newSecret } from "../base/secret";

/** Paths in a data directory. */
export interface DataDirectory {
  readonly path: string;
  readonly database: string;
  readonly keyFile: string;
  readonly secretFile: string;
  /** Contains the port of the service, which is chosen at the first start. */
  readonly portFile: string;
  /** Describes the process that serves the directory. A killed process leaves the file behind. */
  readonly runningFile: string;
  /** Locked by the process that serves the directory. */
  readonly lockFile: string;
  readonly logFile: string;
  /** Local copies of models that are stored remotely. */
  readonly copies: string;
  /** Contains a directory for each running job with an external trainer. */
  readonly work: string;
}

/** Returns the paths in a data directory. Creates nothing. */
export function dataDirectoryAt(path: string): DataDirectory {
  const root = resolve(path);
  const at = (...names: string[]) => join(root, ...names);
  return {
    path: root,
    database: at("data.db"),
    keyFile: at("key"),
    secretFile: at("secret"),
    portFile: at("port"),
    runningFile: at("running.json"),
    lockFile: at("lock"),
    logFile: at("service.log"),
    copies: at("copies"),
    work: at("work"),
  };
}

const fileNames =
  /^(data\.db(-wal|-shm|-journal)?|lock(-journal)?|service\.log(\.1)?|\.gitignore|(key|secret|port|running\.json)(\.\d+\.part)?)$/;
const directories = {
  models: /^model-[0-9a-f]+(\.\d+\.part)?$/,
  results: /^job-[0-9a-f]+(\.\d+)?\.(json|\d+\.svg)(\.\d+\.part)?$/,
  copies: /^model-[0-9a-f]+(\.v\d+)?(\.[0-9a-f-]+\.part)?$/,
  work: /^job-[0-9a-f]+-\d+$/,
};

/** Names that file systems and desktops create in any directory. */
export const harmlessNames = new Set(["lost+found", ".DS_Store"]);

/** Whether a directory contains the data of a service. */
export function isDataDirectory(dataDirectory: DataDirectory): boolean {
  return existsSync(dataDirectory.database) && existsSync(dataDirectory.lockFile);
}

/** Throws if a directory contains files of other programs, because a service must not mix its files with them. */
export function refuseForeign(dataDirectory: DataDirectory): void {
  if (!existsSync(dataDirectory.path) || isDataDirectory(dataDirectory)) return;
  const foreign = readdirSync(dataDirectory.path).find(
    (name) => !fileNames.test(name) && !(name in directories) && !harmlessNames.has(name),
  );
  if (foreign === undefined) return;
  throw new Error(
    `${dataDirectory.path} is not a data directory of recommender: it contains ${foreign}. ` +
      "Use a new or empty directory, for example a subdirectory.",
  );
}

/**
 * Creates a directory and its parents. Does not use `recursive`, because with a path in /proc Node would never return.
 */
export function ensureDirectory(path: string): void {
  if (existsSync(path)) return;
  ensureDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the directory at the same moment.
    if (existsSync(path)) return;
    throw new Error(
      `Cannot create the directory ${path} (${(error as Error).message}). ` +
        "Check the permissions and the disk space, or use a different directory.",
      { cause: error },
    );
  }
}

/** Creates a data directory that only its owner can read, because it contains the key. */
export function createDataDirectory(dataDirectory: DataDirectory): void {
  refuseForeign(dataDirectory);
  const inside = ["models", "results"].map((name) => join(dataDirectory.path, name));
  for (const path of [dataDirectory.path, ...inside]) {
    ensureDirectory(path);
    if (isOwnedByUser(path)) chmodSync(path, 0o700);
  }
  // Keeps the directory, and above all the key, out of Git repositories.
  const ignore = join(dataDirectory.path, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
}

/** Makes the files readable by their owner only. SQLite gives its other files the permissions of the database. */
export function restrictAccess(dataDirectory: DataDirectory): void {
  if (!existsSync(dataDirectory.database)) closeSync(openSync(dataDirectory.database, "wx", 0o600));
  for (const name of readdirSync(dataDirectory.path)) {
    const path = join(dataDirectory.path, name);
    if (fileNames.test(name) && isOwnedByUser(path)) chmodSync(path, 0o600);
  }
}

/** Deletes the data of a service, then the directory if it is empty. Returns the names of the remaining files. */
export function deleteData(dataDirectory: DataDirectory): string[] {
  for (const [name, pattern] of Object.entries(directories))
    deleteFiles(join(dataDirectory.path, name), pattern);
  return deleteFiles(dataDirectory.path, fileNames);
}

/** Deletes matching files, then the directory if it is empty. Returns the names of the remaining files. */
function deleteFiles(path: string, pattern: RegExp): string[] {
  if (!existsSync(path)) return [];
  // The lock is deleted last: without it, another process may start.
  const names = readdirSync(path).sort((a, b) => Number(a === "lock") - Number(b === "lock"));
  for (const name of names)
    if (pattern.test(name)) rmSync(join(path, name), { recursive: true, force: true });
  const remaining = readdirSync(path);
  if (remaining.length === 0) rmdirSync(path);
  return remaining;
}

/** The key of the service, and the secret that signs tokens and download links. */
export interface Secrets {
  readonly key: string;
  readonly signing: string;
}

const minSecretLength = 20;

/** Returns the secret in a file. Creates the file with a new secret if it is missing. Only its owner can read it. */
export function secretText(file: string, prefix = ""): string {
  if (!existsSync(file)) writeAtomically(file, `${prefix}${newSecret()}\n`);
  chmodSync(file, 0o600);
  return readSecret(file);
}

/** Reads the secret in a file. Throws if it is too short, because with an empty secret anybody would have access. */
export function readSecret(file: string): string {
  const secret = readFileSync(file, "utf8").trim();
  if (secret.length >= minSecretLength) return secret;
  throw new Error(
    `The secret in ${file} is too short: it has ${secret.length} of at least ${minSecretLength} characters. ` +
      "Restore the previous secret, or delete the file to get a new one at the next start.",
  );
}

/** Reads the port of the service, if one was chosen. */
export function readPort(dataDirectory: DataDirectory): number | undefined {
  try {
    return Number(readFileSync(dataDirectory.portFile, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file completely or not at all, even if the process is killed or the power fails. */
export function writeAtomically(file: string, content: string | Uint8Array): void {
  const part = `${file}.${process.pid}.part`;
  try {
    synced(openSync(part, "w", 0o600), (opened) => writeFileSync(opened, content));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  // Makes the new name durable. Windows cannot open directories.
  if (process.platform !== "win32") synced(openSync(dirname(file), "r"));
}

function synced(opened: number, write: (opened: number) => void = () => undefined): void {
  try {
    write(opened);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function isOwnedByUser(path: string): boolean {
  return process.getuid === undefined || statSync(path).uid === process.getuid();
}
