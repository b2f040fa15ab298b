import { type DataDirectory, dataDirectoryAt } from "../files/data-directory";
import type { Files } from "../files/storage/files";
import { openFiles } from "../files/storage/open";
import { withoutPassword } from "../store/address";

/** Location of a service's data, as given by command-line options. */
export interface Place {
  readonly dataDir: string;
  /** URL of the database, if the data is in PostgreSQL. */
  readonly store?: string;
  /** URL of the bucket, if models and results are stored in a bucket. */
  readonly files?: string;
}

/** Resolved {@link Place}. */
export interface Located {
  /** Directory, or URL without password, for messages. */
  readonly name: string;
  /** The data directory. Undefined if the data is in PostgreSQL. */
  readonly dataDirectory: DataDirectory | undefined;
  /** SQLite file or PostgreSQL URL. */
  readonly database: string;
  readonly files: Files;
}

/** Resolves a place without creating or connecting to anything. */
export function locate({ dataDir, store, files = store }: Place): Located {
  const dataDirectory = dataDirectoryAt(dataDir);
  return {
    name: store === undefined ? dataDirectory.path : withoutPassword(store),
    dataDirectory: store === undefined ? dataDirectory : undefined,
    database: store ?? dataDirectory.database,
    files: openFiles(
      files === undefined
        ? { directory: dataDirectory.path }
        : { directory: dataDirectory.copies, url: files },
    ),
  };
}
