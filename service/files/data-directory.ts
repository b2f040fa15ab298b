// files/ is the data folder: secrets, log and lock; and models and results, there or in a bucket.

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

/** The places of everything that a service keeps. */
export interface DataDirectory {
  readonly path: string;
  readonly database: string;
  readonly keyFile: string;
  readonly secretFile: string;
  /** The port, chosen once. */
  readonly portFile: string;
  /** Who serves the folder now; a killed process leaves it in place. */
  readonly runningFile: string;
  /** Locked by the process that serves the folder. */
  readonly lockFile: string;
  readonly logFile: string;
  /** Copies of models that are kept elsewhere. */
  readonly copies: string;
  /** A folder for each job whose trainer is a command, while it runs. */
  readonly work: string;
}

/** Names the places in a data folder; makes nothing. */
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

const ownName =
  /^(data\.db(-wal|-shm|-journal)?|lock(-journal)?|service\.log(\.1)?|\.gitignore|(key|secret|port|running\.json)(\.\d+\.part)?)$/;
const ownFolders = {
  models: /^model-[0-9a-f]+(\.\d+\.part)?$/,
  results: /^job-[0-9a-f]+(\.\d+)?\.(json|\d+\.svg)(\.\d+\.part)?$/,
  copies: /^model-[0-9a-f]+(\.v\d+)?(\.[0-9a-f-]+\.part)?$/,
  work: /^job-[0-9a-f]+-\d+$/,
};

/** What a file system or desktop puts into folders by itself. */
export const harmlessNames = new Set(["lost+found", ".DS_Store"]);

/** Whether a service has kept its data there. */
export function isDataDirectory(folder: DataDirectory): boolean {
  return existsSync(folder.database) && existsSync(folder.lockFile);
}

/** Refuses a folder that somebody else uses, for a service would mix its files with theirs. */
export function refuseForeign(folder: DataDirectory): void {
  if (!existsSync(folder.path) || isDataDirectory(folder)) return;
  const foreign = readdirSync(folder.path).find(
    (name) => !ownName.test(name) && !(name in ownFolders) && !harmlessNames.has(name),
  );
  if (foreign === undefined) return;
  throw new Error(
    `The folder ${folder.path} is not a data folder of recommender: it holds ${foreign}. ` +
      "Give a new or empty folder, such as one inside it.",
  );
}

/** Makes a folder that a person named, and those above it: with `recursive`, Node tries for ever to make one in /proc. */
export function ensureDirectory(path: string): void {
  if (existsSync(path)) return;
  ensureDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may make it at the same moment.
    if (existsSync(path)) return;
    throw new Error(
      `The folder ${path} cannot be made (${(error as Error).message}). Name one in a place where you may write.`,
      { cause: error },
    );
  }
}

/** Makes the folder readable by its owner alone, because it holds the key to everything. */
export function createDataDirectory(folder: DataDirectory): void {
  refuseForeign(folder);
  const inside = ["models", "results"].map((name) => join(folder.path, name));
  for (const path of [folder.path, ...inside]) {
    ensureDirectory(path);
    if (isOwnedByUser(path)) chmodSync(path, 0o700);
  }
  // A data folder inside a repository must not be committed, the key least of all.
  const ignore = join(folder.path, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
}

/** Lets nobody else read the files; SQLite gives its further files the mode of the database. */
export function restrictAccess(folder: DataDirectory): void {
  if (!existsSync(folder.database)) closeSync(openSync(folder.database, "wx", 0o600));
  for (const name of readdirSync(folder.path)) {
    const path = join(folder.path, name);
    if (ownName.test(name) && isOwnedByUser(path)) chmodSync(path, 0o600);
  }
}

/** Deletes what a service keeps in a folder, and the folder unless it holds other things; gives the names of these. */
export function deleteData(folder: DataDirectory): string[] {
  for (const [name, own] of Object.entries(ownFolders)) empty(join(folder.path, name), own);
  return empty(folder.path, ownName);
}

/** Deletes the files of these names, and the folder if nothing else is in it; gives the names of what stays. */
function empty(path: string, own: RegExp): string[] {
  if (!existsSync(path)) return [];
  // The lock goes last: without it another process may begin anew.
  const names = readdirSync(path).sort((a, b) => Number(a === "lock") - Number(b === "lock"));
  for (const name of names) if (own.test(name)) rmSync(join(path, name), { recursive: true, force: true });
  const others = readdirSync(path);
  if (others.length === 0) rmdirSync(path);
  return others;
}

/** The key that a developer shows, and the secret that signs tokens and addresses. */
export interface Secrets {
  readonly key: string;
  readonly signing: string;
}

const secretLength = 20;

/** The secret in a file that only its owner may read, created once. */
export function secretText(file: string, prefix = ""): string {
  if (!existsSync(file)) writeAtomically(file, `${prefix}${newSecret()}\n`);
  chmodSync(file, 0o600);
  return readSecret(file);
}

/** The secret in a file; a cut-off or empty one would let anybody in. */
export function readSecret(file: string): string {
  const secret = readFileSync(file, "utf8").trim();
  if (secret.length >= secretLength) return secret;
  throw new Error(
    `${file} holds ${secret.length} characters, and a secret has at least ${secretLength}. ` +
      "Put the former one back, or delete the file: the next start makes a new one.",
  );
}

/** The port that was chosen for the folder, if one was. */
export function readPort(folder: DataDirectory): number | undefined {
  try {
    return Number(readFileSync(folder.portFile, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file as a whole or not at all, and onto the disk, for a kill or a power loss may come at any moment. */
export function writeAtomically(file: string, content: string | Uint8Array): void {
  const part = `${file}.${process.pid}.part`;
  try {
    synced(openSync(part, "w", 0o600), (opened) => writeFileSync(opened, content));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  // Windows has no such thing as an open folder.
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
