import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PassThrough, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Selectable, sql } from "kysely";
import { ensureDirectory, harmlessNames, isDataDirectory, readSecret } from "../files/data-directory";
import { DataDirectoryBusyError, lockFile } from "../files/lock";
import { convertedModel } from "../files/models";
import { type Content, modelName } from "../files/storage/files";
import type { Row } from "../store/bulk-rows";
import { connect, type Db } from "../store/database";
import { snapshot } from "../store/snapshot";
import type { InstanceTable, Tables } from "../store/tables";
import { addCopied, type Copied, copiedBefore, removeCopiedList } from "./copied";
import { type Entry, type Manifest, manifestFile, writeManifest } from "./manifest";
import { type Located, locate, type Place } from "./place";
import { backedUpTables, columnsIn, pagesOf } from "./tables";

/** Progress of an export or a restore. */
export interface Progress {
  readonly rows: number;
  readonly totalRows: number;
}

type OnProgress = (progress: Progress) => void;

/** Writes a consistent backup of all data to a directory. The service can keep running. */
export async function exportService(place: Place, dir: string, onProgress: OnProgress): Promise<Manifest> {
  const source = locate(place);
  if (source.dataDirectory && !isDataDirectory(source.dataDirectory)) throw new Error(noDataIn(source));
  const unlock = beginExport(resolve(dir));
  const db = connect(source.database);
  try {
    const known = await columnsIn(db);
    if (!known.has("datasets")) throw new Error(noDataIn(source));
    const copied = await copiedBefore(resolve(dir));
    const manifest = await new Export(source, db, known, resolve(dir), onProgress, copied).write();
    removeCopiedList(dir);
    unlock();
    rmSync(join(dir, unfinished));
    return manifest;
  } finally {
    unlock();
    await db.destroy();
    source.files.close();
  }
}

function noDataIn({ name, dataDirectory }: Located): string {
  const option = dataDirectory
    ? "the data directory of a service with --data"
    : "the database of a service with --store";
  return `${name} contains no service data. Pass ${option}.`;
}

/** File that marks an incomplete backup. The export locks it to keep other exports out of the directory. */
const unfinished = "unfinished";

function beginExport(dir: string): () => void {
  const names = existsSync(dir) ? readdirSync(dir).filter((name) => !harmlessNames.has(name)) : [];
  rejectExistingBackup(dir);
  if (names.length > 0 && !names.includes(unfinished))
    throw new Error(`${dir} is not empty: it contains ${names[0]}. Pass a new or empty directory.`);
  ensureDirectory(dir);
  const unlock = lockFile(
    join(dir, unfinished),
    (cause) =>
      new DataDirectoryBusyError(`Another export is writing to ${dir}. Pass a different directory.`, {
        cause,
      }),
  );
  try {
    rejectExistingBackup(dir);
    // If `models` is a symbolic link, remove it. Otherwise, the export would delete files in the directory it points
    // to.
    if (!lstatSync(join(dir, "models"), { throwIfNoEntry: false })?.isDirectory())
      rmSync(join(dir, "models"), { force: true });
    for (const name of ["tables", "results", "key", "secret", "tombstone-key"])
      rmSync(join(dir, name), { recursive: true, force: true });
    for (const name of ["tables", "models", "results"]) ensureDirectory(join(dir, name));
    // A backup in a Git repository must not be committed, because it contains the key.
    writeFileSync(join(dir, ".gitignore"), "*\n");
  } catch (error) {
    unlock();
    throw error;
  }
  return unlock;
}

function rejectExistingBackup(dir: string): void {
  if (existsSync(join(dir, manifestFile)))
    throw new Error(
      `${dir} already contains a backup. Pass a different directory, or delete the backup first.`,
    );
}

/** Approximate size of a file of rows before compression. */
const partBytes = 16 * 1024 * 1024;
const mostSnapshots = 20;

class Export {
  private rows = 0;
  private totalRows = 0;
  /** Files of the backup except models. */
  private readonly files = new Map<string, Entry>();

  constructor(
    private readonly source: Located,
    private readonly db: Db,
    private readonly known: ReadonlyMap<string, ReadonlySet<string>>,
    private readonly dir: string,
    private readonly onProgress: OnProgress,
    private readonly copied: Map<string, Copied>,
  ) {}

  /**
   * Copies the models, then takes a snapshot and writes its rows. Models may be added or rewritten during the copying.
   * If the snapshot contains a model version that was not copied, copies it and takes another snapshot.
   */
  async write(): Promise<Manifest> {
    for (let taken = 0; taken < mostSnapshots; taken++) {
      for (const [name, version] of await this.modelsIn(this.db))
        if (this.copied.get(name)?.version !== version) await this.copyModel(name, version);
      const manifest = await snapshot(this.db, (db) => this.writeSnapshot(db));
      if (manifest) return manifest;
    }
    throw new Error(`The models of ${this.source.name} change too fast for a backup. Try again later.`);
  }

  private async writeSnapshot(db: Db): Promise<Manifest | undefined> {
    const models = await this.modelsIn(db);
    const takenAt = new Date().toISOString();
    if ([...models].some(([name, version]) => this.copied.get(name)?.version !== version)) return undefined;
    for (const name of this.copied.keys()) {
      if (models.has(name)) continue;
      this.copied.delete(name);
      await rm(join(this.dir, name));
    }
    const { total } = await db
      .selectFrom("shards")
      .select((of) => of.fn.coalesce(of.fn.sum<number>("records"), of.lit(0)).as("total"))
      .executeTakeFirstOrThrow();
    this.totalRows = Number(total);
    for (const table of backedUpTables) if (this.known.has(table)) await this.writeTable(db, table);
    await this.copyResults(db);
    const instance = this.known.has("instance")
      ? await db.selectFrom("instance").selectAll().executeTakeFirst()
      : undefined;
    await this.writeSecrets(instance);
    return writeManifest(this.dir, {
      takenAt,
      instanceId: instance?.id ?? null,
      // Models are sorted by id, so a resumed export writes the same manifest as an uninterrupted one.
      files: [
        ...[...models.keys()].map((name) => (this.copied.get(name) as Copied).entry),
        ...this.files.values(),
      ],
    });
  }

  /** Returns the versions of the model files, by file name. All are 0 if an early release created the database. */
  private async modelsIn(db: Db): Promise<Map<string, number>> {
    const hasVersions = this.known.get("models")?.has("forgotten_until") ?? false;
    const rows = await db
      .selectFrom("models")
      .select(["id", hasVersions ? "forgotten_until" : sql.lit(0).as("forgotten_until")])
      .orderBy("id")
      .execute();
    return new Map(rows.map(({ id, forgotten_until }) => [modelName(id), forgotten_until]));
  }

  private async writeTable(db: Db, table: keyof Tables): Promise<void> {
    const pages = pagesOf(db, table);
    let next = await pages.next();
    for (let part = 1; !next.done || part === 1; part++) {
      const name = `tables/${table}-${String(part).padStart(6, "0")}.ndjson.gz`;
      let rows = 0;
      const lines = async function* (this: Export) {
        for (let bytes = 0; !next.done && bytes < partBytes; next = await pages.next()) {
          const text = (next.value as Row[]).map((row) => `${JSON.stringify(row)}\n`).join("");
          rows += next.value.length;
          bytes += text.length;
          this.rows += next.value.length;
          this.onProgress({ rows: this.rows, totalRows: Math.max(this.rows, this.totalRows) });
          yield Buffer.from(text);
        }
      };
      // At higher levels, an export spends most of its time on compression.
      const entry = await this.writeFile(name, lines.call(this), createGzip({ level: 1 }));
      this.files.set(name, { ...entry, rows });
    }
  }

  private async copyModel(name: string, version: number): Promise<void> {
    const { files } = this.source;
    const add = (entry: Entry) => {
      this.copied.set(name, { entry, version });
      addCopied(this.dir, { entry, version });
    };
    const content = await convertedModel(files, name);
    if (content) return add(await this.writeFile(name, content));
    const reading = await files.read(name);
    if (reading) {
      const entry = await this.writeFile(name, reading.stream);
      // The stream ends early if the file was deleted meanwhile.
      if (entry.bytes === reading.bytes) return add(entry);
    }
    if (!(await this.modelsIn(this.db)).has(name)) return;
    throw new Error(
      `The file ${name} in ${files.label} is missing or incomplete. Pass the same --files as the service, or delete the model.`,
    );
  }

  /**
   * Copies job results. Leaves out results that are deleted meanwhile, because they expired or may list a deleted user.
   */
  private async copyResults(db: Db): Promise<void> {
    const { files } = this.source;
    const jobs = new Set((await db.selectFrom("jobs").select("id").execute()).map(({ id }) => id));
    for (const { name } of await files.list("results/job-")) {
      if (
        !/\.(json|svg|ndjson|parquet)$/.test(name) ||
        !jobs.has(name.slice("results/".length).split(".")[0] as string)
      )
        continue;
      const reading = await files.read(name);
      if (!reading) continue;
      const entry = await this.writeFile(name, reading.stream);
      if (entry.bytes === reading.bytes) this.files.set(name, entry);
      else await rm(join(this.dir, name));
    }
  }

  private async writeSecrets(instance: Partial<Selectable<InstanceTable>> = {}): Promise<void> {
    const { dataDirectory } = this.source;
    const secrets = {
      ...(dataDirectory
        ? { key: existingSecret(dataDirectory.keyFile), secret: existingSecret(dataDirectory.secretFile) }
        : { secret: instance.signing_secret }),
      "tombstone-key": instance.tombstone_key,
    };
    for (const [name, text] of Object.entries(secrets))
      if (text) this.files.set(name, await this.writeFile(name, [Buffer.from(`${text}\n`)]));
  }

  private async writeFile(
    name: string,
    content: Content,
    pack: Transform = new PassThrough(),
  ): Promise<Entry> {
    const hash = createHash("sha256");
    let bytes = 0;
    const file = await open(join(this.dir, name), "w", 0o600);
    try {
      await pipeline(content, pack, async (pieces: AsyncIterable<Uint8Array>) => {
        for await (const piece of pieces) {
          hash.update(piece);
          bytes += piece.length;
          await file.writeFile(piece);
        }
      });
      await file.sync();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (!/^(ENOSPC|EDQUOT|EFBIG|EROFS|EIO)$/.test(code ?? "")) throw error;
      throw new Error(
        `Cannot write ${name} to ${this.dir} (${message}). ` +
          "Check the disk and its free space, or choose another directory.",
      );
    } finally {
      await file.close();
    }
    return { name, bytes, sha256: hash.digest("hex") };
  }
}

function existingSecret(file: string): string | undefined {
  return existsSync(file) ? readSecret(file) : undefined;
}
