import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { type Row, type Rows, SourceError } from "./row";
import type { Readable } from "./text";

/** Reads the rows of a Parquet file, one row group at a time, so memory use depends on the largest group. */
export async function* parquetRows(file: Readable, onBytes: (count: number) => void): Rows {
  const unpacked = await unpackedFile(file);
  try {
    const { open, parquetReadObjects, compressors } = await libraries();
    const { buffer, metadata } = await open(unpacked.path, file.displayName);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const values = await parquetReadObjects({
        file: buffer,
        metadata,
        rowStart,
        rowEnd,
        compressors,
      }).catch((error: Error) => {
        throw new SourceError(
          file.displayName,
          `cannot read the row group that begins here: ${error.message}`,
          rowStart + 1,
        );
      });
      const first = rowStart + 1;
      yield values.map((columns, at): Row => ({ line: first + at, columns }));
      onBytes((buffer.byteLength * Number(group.num_rows)) / Number(metadata.num_rows));
      rowStart = rowEnd;
    }
  } finally {
    await unpacked.remove();
  }
}

/** Reads the number of rows and the columns of a Parquet file from its metadata. */
export async function parquetShape(file: Readable): Promise<{ rowCount: number; columns: string[] }> {
  const unpacked = await unpackedFile(file);
  try {
    const { open, parquetSchema } = await libraries();
    const { metadata } = await open(unpacked.path, file.displayName);
    const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
    return { rowCount: Number(metadata.num_rows), columns };
  } finally {
    await unpacked.remove();
  }
}

/** Imports ES modules, which CommonJS cannot require. They are loaded only for Parquet files. */
async function libraries() {
  const hyparquet = await import("hyparquet");
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } = hyparquet;
  const { compressors } = await import("hyparquet-compressors");
  const open = async (path: string, displayName: string) => {
    try {
      const buffer = await asyncBufferFromFile(path);
      return { buffer, metadata: await parquetMetadataAsync(buffer) };
    } catch (error) {
      throw new SourceError(displayName, `cannot be read as Parquet: ${(error as Error).message}`);
    }
  };
  return { open, parquetReadObjects, parquetSchema, compressors };
}

/** Decompresses a gzip file to a temporary file, because Parquet is read from its end. */
async function unpackedFile(file: Readable): Promise<{ path: string; remove: () => Promise<void> }> {
  if (!file.gzip) return { path: file.path, remove: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), "recommender-parquet-"));
  const path = join(directory, "unpacked.parquet");
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await pipeline(createReadStream(file.path), createGunzip(), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await remove();
    throw new SourceError(
      file.displayName,
      `the gzip file cannot be decompressed: ${(error as Error).message}`,
    );
  }
  return { path, remove };
}
