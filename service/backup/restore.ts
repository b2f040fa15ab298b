import { createHash } from "node:crypto";
import { sql } from "kysely";
import { createDataDirectory, restrictAccess, writeAtomically } from "../files/data-directory";
import { DataDirectoryBusyError, lockDataDirectory, removeRunning, writeRunning } from "../files/lock";
import { insertRows } from "../store/bulk-rows";
import { type Db, openStore } from "../store/database";
import { livingProcesses } from "../store/processes";
import type { Tables } from "../store/tables";
import type { Progress } from "./export";
import {
  checkFiles,
  contentOf,
  type Entry,
  type Manifest,
  readManifest,
  rowsIn,
  tableOf,
  textIn,
} from "./manifest";
import { type Located, locate, type Place } from "./place";
import { backedUpTables, columnsIn } from "./tables";
import { forgetEverywhere, removeFromModels } from "./without-users";

type OnProgress = (progress: Progress) => void;

/** Checks the files of a backup against its manifest. `faults` has a message for each damaged or missing file. */
export async function checkBackup(dir: string, onProgress: OnProgress) {
  const manifest = readManifest(dir);
  const totalRows = totalOf(manifest);
  let rows = 0;
  const faults = await checkFiles(dir, manifest, (more) => {
    rows += more;
    onProgress({ rows, totalRows });
  });
  return { manifest, faults };
}

/**
 * Restores a backup completely or not at all. The target must be empty and not in use.
 * @param forgotten users who were forgotten after the backup was taken; they are removed from the restored data
 */
export async function restoreService(
  place: Place,
  dir: string,
  onProgress: OnProgress,
  forgotten: readonly string[] = [],
): Promise<Manifest> {
  const { manifest, faults } = await checkBackup(dir, () => undefined);
  if (faults.length > 0) throw new Error(`${faults.join("\n")}\nNothing was restored. Use another backup.`);
  const target = locate(place);
  const unlock = lockTarget(target);
  try {
    // No time limits: statements over whole tables take long, and the transaction is idle while files are written.
    const store = await openStore(target.database, { limits: {} });
    try {
      await store.exclusively(async (db) => {
        await rejectIfInUse(db, target);
        await rejectIfNotEmpty(db, target);
        await new Restore(db, target, dir, manifest, onProgress, forgotten.length === 0).run();
        await forgetEverywhere(db, forgotten);
      });
      await removeFromModels(store, target.files);
      if (store.isShared) await sql`analyze`.execute(store.db);
    } finally {
      await store.close();
    }
  } finally {
    target.files.close();
    unlock();
  }
  return manifest;
}

/** Locks the data directory, and creates it if necessary. */
function lockTarget({ dataDirectory }: Located): () => void {
  if (!dataDirectory) return () => undefined;
  createDataDirectory(dataDirectory);
  const unlock = lockDataDirectory(dataDirectory);
  writeRunning(dataDirectory, { pid: process.pid });
  restrictAccess(dataDirectory);
  return () => {
    removeRunning(dataDirectory);
    unlock();
  };
}

async function rejectIfInUse(db: Db, { name, dataDirectory }: Located): Promise<void> {
  if (dataDirectory) return;
  // A service that starts meanwhile waits for this lock, and then finds the restored data.
  await sql`lock table instance in access exclusive mode`.execute(db);
  const living = await livingProcesses(db);
  if (living.length === 0) return;
  throw new DataDirectoryBusyError(
    `The database ${name} is in use by ${living.map(({ id, role }) => `${id} (${role})`).join(", ")}. Stop all ` +
      "processes of the service first; a killed process stays listed for 6 s. " +
      "Or pass a different database with --store.",
  );
}

async function rejectIfNotEmpty(db: Db, { name, dataDirectory }: Located): Promise<void> {
  for (const table of backedUpTables) {
    const row = await db.selectFrom(table).select(sql.lit(1).as("is")).limit(1).executeTakeFirst();
    if (!row) continue;
    const remedy = dataDirectory
      ? `Pass a different directory with --data, or delete the data with \`recommender reset --data ${name}\``
      : "Pass a different database with --store";
    throw new Error(
      `${name} already contains data (in the table ${table}), so a backup cannot be restored into it. ${remedy}.`,
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
    /** Whether to restore job results. False if users have to be forgotten, because results may list them. */
    private readonly withResults: boolean,
  ) {}

  /** Restores files before rows. If the restore is killed, a service later deletes the files that have no rows. */
  async run(): Promise<void> {
    if (this.manifest.instanceId !== null) await this.target.files.check(this.manifest.instanceId);
    for (const file of this.manifest.files) {
      const isWanted =
        file.name.startsWith("models/") || (this.withResults && file.name.startsWith("results/"));
      if (isWanted && !(await this.isRestored(file)))
        await this.target.files.write(file.name, contentOf(this.dir, file));
    }
    await this.restoreTables();
    await this.restoreInstance();
  }

  /** Whether an interrupted restore has already restored a file. */
  private async isRestored({ name, bytes, sha256 }: Entry): Promise<boolean> {
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
      if (!backedUpTables.includes(table as keyof Tables) || unknown !== undefined)
        throw new Error(
          `${this.dir} was written by a newer version of recommender (${this.manifest.writtenBy}), which has ` +
            `${unknown === undefined ? "" : `the column ${unknown} in `}the table ${table}. Install that version.`,
        );
      await insertRows(this.db, table, rows).catch((error) => {
        throw new Error(`Cannot restore the rows of ${file.name}: ${error.message}`, { cause: error });
      });
      done += rows.length;
      this.onProgress({ rows: done, totalRows });
    }
    if (done !== totalRows)
      throw new Error(
        `${this.dir} has ${done} rows instead of the ${totalRows} in its manifest. Use another backup.`,
      );
  }

  /** Restores the id, the key and the secrets, so tokens, download URLs and stacks of the old service keep working. */
  private async restoreInstance(): Promise<void> {
    const { dataDirectory } = this.target;
    const secret = await textIn(this.dir, this.manifest, "secret");
    const key = await textIn(this.dir, this.manifest, "key");
    const { instanceId } = this.manifest;
    if (instanceId !== null) await this.db.updateTable("instance").set({ id: instanceId }).execute();
    const tombstone_key = await textIn(this.dir, this.manifest, "tombstone-key");
    if (tombstone_key) await this.db.updateTable("instance").set({ tombstone_key }).execute();
    if (dataDirectory) {
      if (secret) writeAtomically(dataDirectory.secretFile, `${secret}\n`);
      if (key) writeAtomically(dataDirectory.keyFile, `${key}\n`);
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
