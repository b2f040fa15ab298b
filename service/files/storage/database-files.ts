import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { sql } from "kysely";
import { withoutPassword } from "../../store/address";
import { connect, type Db } from "../../store/database";
import {
  abandonedAfterMs,
  type Content,
  type CopyOptions,
  type Files,
  type Listed,
  type Location,
  type Reading,
} from "./files";
import { LocalCopies } from "./local-copies";

const partBytes = 1024 * 1024;

/** Bytes of a file that are read ahead. */
const readAheadBytes = 64 * 1024;

/** Time limit of a statement. Transferring a part, or deleting all parts of a file, takes less time. */
const statementMs = 300_000;

/** Files in the PostgreSQL database of the service, in parts of a megabyte. */
export class DatabaseFiles implements Files {
  readonly isTrusted = false;
  readonly label: string;
  private readonly copies: LocalCopies;
  private opened: Db | undefined;

  constructor(
    readonly location: Location & { readonly url: string },
    maxCopiedBytes?: number,
  ) {
    this.label = withoutPassword(location.url);
    this.copies = new LocalCopies(location.directory, maxCopiedBytes);
  }

  private get db(): Db {
    this.opened ??= connect(this.location.url, { statementMs });
    return this.opened;
  }

  /** Does nothing, because the migrations create the tables. */
  async check(): Promise<void> {}

  /** Uploads the parts under a unique id. The upload gets the name of the file when it is complete. */
  async write(name: string, content: Content): Promise<void> {
    const upload = randomUUID();
    let parts = 0;
    let bytes = 0;
    try {
      for await (const data of inParts(content)) {
        await this.db.insertInto("file_parts").values({ upload, name, part: parts++, data }).execute();
        bytes += data.length;
      }
      await this.db.transaction().execute((db) => assignName(db, { name, upload, bytes }));
    } catch (error) {
      await this.dropUnused(sql`upload = ${upload}`).catch(() => undefined);
      throw error;
    }
  }

  async read(name: string, { pieceBytes = partBytes } = {}): Promise<Reading | undefined> {
    const file = await this.db
      .selectFrom("files")
      .select(["upload", "bytes"])
      .where("name", "=", name)
      .executeTakeFirst();
    if (!file) return undefined;
    const options = { objectMode: false, highWaterMark: readAheadBytes };
    return { bytes: file.bytes, stream: Readable.from(this.pieces(file.upload, pieceBytes), options) };
  }

  open(name: string, how?: CopyOptions): Promise<FileHandle | undefined> {
    return this.copies.open(name, () => this.read(name), how);
  }

  async remove(name: string): Promise<void> {
    await this.copies.remove(name);
    await this.db.transaction().execute(async (db) => {
      const file = await db
        .deleteFrom("files")
        .where("name", "=", name)
        .returning("upload")
        .executeTakeFirst();
      if (file) await db.deleteFrom("file_parts").where("upload", "=", file.upload).execute();
    });
  }

  async list(prefix: string): Promise<Listed[]> {
    const files = await this.db
      .selectFrom("files")
      .select(["name", sql<number>`(extract(epoch from written) * 1000)::bigint`.as("writtenTs")])
      .where(sql<boolean>`starts_with(name, ${prefix})`)
      .execute();
    return files;
  }

  async link(): Promise<undefined> {
    return undefined;
  }

  async cleanUp(afterMs = abandonedAfterMs): Promise<void> {
    await this.dropUnused(sql`begun <= now() - ${afterMs} * interval '1 millisecond'`);
  }

  cleanUpCopies(existing: ReadonlySet<string>, afterMs = abandonedAfterMs): Promise<void> {
    return this.copies.cleanUp(existing, afterMs);
  }

  close(): void {
    void this.opened?.destroy();
  }

  /** Deletes parts that belong to no file. */
  private async dropUnused(which: ReturnType<typeof sql<boolean>>): Promise<void> {
    await sql`delete from file_parts where ${which} and upload not in (select upload from files)`.execute(
      this.db,
    );
  }

  /** Reads the parts of a file in pieces. While a slow client downloads the file, only one piece is in memory. */
  private async *pieces(upload: string, pieceBytes: number): AsyncGenerator<Buffer> {
    for (let part = 0, from = 0; ; ) {
      const found = await this.db
        .selectFrom("file_parts")
        .select(sql<Buffer>`substring(data from ${from + 1}::int for ${pieceBytes}::int)`.as("data"))
        .where("upload", "=", upload)
        .where("part", "=", part)
        .executeTakeFirst();
      if (!found) return;
      if (found.data.length > 0) yield found.data;
      const isLast = found.data.length < pieceBytes;
      part += Number(isLast);
      from = isLast ? 0 : from + pieceBytes;
    }
  }
}

/** Assigns a name to an upload, and deletes the upload that had the name before. */
async function assignName(
  db: Db,
  { name, ...file }: { name: string; upload: string; bytes: number },
): Promise<void> {
  const files = db.selectFrom("files").select("upload").where("name", "=", name);
  const previous = await files.forUpdate().executeTakeFirst();
  await db
    .insertInto("files")
    .values({ name, ...file })
    .onConflict((on) => on.column("name").doUpdateSet({ ...file, written: sql<Date>`now()` }))
    .execute();
  if (previous) await db.deleteFrom("file_parts").where("upload", "=", previous.upload).execute();
}

/** Splits content into parts of equal size, except the last one. */
async function* inParts(content: Content): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    for (let from = 0; from < piece.length; ) {
      const some = piece.subarray(from, from + partBytes - size);
      // Copied, because the producer may reuse its buffer.
      pieces.push(Buffer.from(some));
      size += some.length;
      from += some.length;
      if (size < partBytes) continue;
      yield Buffer.concat(pieces);
      pieces = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(pieces);
}
