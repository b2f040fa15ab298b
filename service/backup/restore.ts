import { createHash } from "node:crypto";
import { sql } from "kysely";
import { closeToOthers, makeFolder, writeWhole } from "../files/folder";
import { FolderBusyError, forgetRunning, lockFolder, writeRunning } from "../files/lock";
import { type Db, openStore } from "../store/database";
import { livingProcesses } from "../store/processes";
import type { Tables } from "../store/tables";
import type { Progress } from "./export";
import {
  contentOf,
  type Entry,
  faultsIn,
  type Manifest,
  readManifest,
  rowsIn,
  tableOf,
  textIn,
} from "./manifest";
import { type Located, located, type Place } from "./place";
import { columnsIn, heldTables, insertRows } from "./rows";
import { forgetEverywhere, removeFromModels } from "./without-users";

type OnProgress = (progress: Progress) => void;

/** A backup, and what is wrong with its files. */
export interface Checked {
  readonly manifest: Manifest;
  readonly faults: readonly string[];
}

/** Reads a backup and holds each of its files to what was written. */
export async function checkBackup(dir: string, onProgress: OnProgress): Promise<Checked> {
  const manifest = readManifest(dir);
  const totalRows = totalOf(manifest);
  let rows = 0;
  const faults = await faultsIn(dir, manifest, (more) => {
    rows += more;
    onProgress({ rows, totalRows });
  });
  return { manifest, faults };
}

/**
 * Puts a backup into a service that holds nothing yet and that nobody serves: all of it, or nothing.
 * @param forgotten users who were forgotten after the backup was taken; the restored service knows none of them
 */
export async function restoreService(
  place: Place,
  dir: string,
  onProgress: OnProgress,
  forgotten: readonly string[] = [],
): Promise<Manifest> {
  const { manifest, faults } = await checkBackup(dir, () => undefined);
  if (faults.length > 0) throw new Error(`${faults.join("\n")}\nNothing was restored; use another backup.`);
  const target = located(place);
  const unlock = takeFolder(target);
  try {
    // Without limits: statements over whole tables take long, and the transaction waits while files are written.
    const store = await openStore(target.database, { limits: {} });
    try {
      await store.transaction(async (db) => {
        await refuseServed(db, target);
        await refuseFull(db, target);
        await new Restore(db, target, dir, manifest, onProgress, forgotten.length === 0).run();
        await forgetEverywhere(db, forgotten);
      });
      await removeFromModels(store, target.files);
      if (store.shared) await sql`analyze`.execute(store.db);
    } finally {
      await store.close();
    }
  } finally {
    target.files.close();
    unlock();
  }
  return manifest;
}

/** Keeps every service out of a folder, which is made where there is none. */
function takeFolder({ folder }: Located): () => void {
  if (!folder) return () => undefined;
  makeFolder(folder);
  const unlock = lockFolder(folder);
  writeRunning(folder, { pid: process.pid });
  closeToOthers(folder);
  return () => {
    forgetRunning(folder);
    unlock();
  };
}

async function refuseServed(db: Db, { name, folder }: Located): Promise<void> {
  if (folder) return;
  // A service that starts meanwhile waits here for what it is to serve.
  await sql`lock table instance in access exclusive mode`.execute(db);
  const living = await livingProcesses(db);
  if (living.length === 0) return;
  throw new FolderBusyError(
    `The database ${name} is served: ${living.map(({ id, role }) => `${id} (${role})`).join(", ")}. End these ` +
      "processes first; one that was killed counts for 6 s more. Or give another database with --store.",
  );
}

async function refuseFull(db: Db, { name, folder }: Located): Promise<void> {
  for (const table of heldTables) {
    const row = await db.selectFrom(table).select(sql.lit(1).as("is")).limit(1).executeTakeFirst();
    if (!row) continue;
    const remedy = folder
      ? `give another folder with --data, or delete what is there with \`recommender reset --data ${name}\``
      : "give another database with --store";
    throw new Error(
      `${name} already holds data (in the table ${table}), and a backup is not mixed with other data: ${remedy}.`,
    );
  }
}

class Restore {
  constructor(
    private readonly db: Db,
    private readonly target: Located,
    private readonly dir: string,
    private readonly manifest: Manifest,
    private readonly onProgress: OnProgress,
    /** Results list users, so a restore that forgets some leaves them out; their jobs can be submitted again. */
    private readonly withResults: boolean,
  ) {}

  /** Files come first, which a service removes at its start where their rows never came. */
  async run(): Promise<void> {
    if (this.manifest.instanceId !== null) await this.target.files.check(this.manifest.instanceId);
    for (const file of this.manifest.files) {
      const isWanted =
        file.name.startsWith("models/") || (this.withResults && file.name.startsWith("results/"));
      if (isWanted && !(await this.isThere(file)))
        await this.target.files.write(file.name, contentOf(this.dir, file));
    }
    await this.restoreTables();
    await this.restoreInstance();
  }

  /** Whether a restore that was broken off has brought a file already. */
  private async isThere({ name, bytes, sha256 }: Entry): Promise<boolean> {
    const reading = await this.target.files.read(name);
    if (reading?.bytes !== bytes) {
      reading?.stream.destroy();
      return false;
    }
    const hash = createHash("sha256");
    for await (const piece of reading.stream) hash.update(piece);
    return hash.digest("hex") === sha256;
  }

  private async restoreTables(): Promise<void> {
    const known = await columnsIn(this.db);
    const totalRows = totalOf(this.manifest);
    let done = 0;
    for (const file of this.manifest.files) {
      const table = tableOf(file.name);
      if (table === undefined) continue;
      const rows = await rowsIn(this.dir, file);
      const unknown = Object.keys(rows[0] ?? {}).find((column) => !known.get(table)?.has(column));
      if (!heldTables.includes(table as keyof Tables) || unknown !== undefined)
        throw new Error(
          `${this.dir} was written by a newer version of recommender (${this.manifest.writtenBy}), which has ` +
            `${unknown === undefined ? "" : `${unknown} in `}a table ${table}; install that version.`,
        );
      await insertRows(this.db, table, rows).catch((error) => {
        throw new Error(`The rows of ${file.name} cannot be restored: ${error.message}`, { cause: error });
      });
      done += rows.length;
      this.onProgress({ rows: done, totalRows });
    }
    if (done !== totalRows)
      throw new Error(
        `${this.dir} has ${done} rows, and its manifest says ${totalRows}; use another backup.`,
      );
  }

  /** Tokens and addresses that were given out stay valid, and a stack finds the service that it knows. */
  private async restoreInstance(): Promise<void> {
    const { folder } = this.target;
    const secret = await textIn(this.dir, this.manifest, "secret");
    const key = await textIn(this.dir, this.manifest, "key");
    const { instanceId } = this.manifest;
    if (instanceId !== null) await this.db.updateTable("instance").set({ id: instanceId }).execute();
    const tombstone_key = await textIn(this.dir, this.manifest, "tombstone-key");
    if (tombstone_key) await this.db.updateTable("instance").set({ tombstone_key }).execute();
    if (folder) {
      if (secret) writeWhole(folder.secretFile, `${secret}\n`);
      if (key) writeWhole(folder.keyFile, `${key}\n`);
      return;
    }
    if (secret) await this.db.updateTable("instance").set({ signing_secret: secret }).execute();
    await sql`select setval(pg_get_serial_sequence('events', 'seq'), max(seq)) from events having max(seq) > 0`.execute(
      this.db,
    );
  }
}

function totalOf({ rows }: Manifest): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}
