import { type Folder, folderAt } from "../files/folder";
import type { Files } from "../files/places/files";
import { openFiles } from "../files/places/open";
import { withoutPassword } from "../store/address";

/** Where the data of a service lies: in a folder, or in a database; and its models and results, where they lie elsewhere. */
export interface Place {
  readonly dataDir: string;
  readonly store?: string;
  readonly files?: string;
}

/** The same with what is needed to reach it. */
export interface Located {
  /** The place as messages name it. */
  readonly name: string;
  /** Missing where a database has everything. */
  readonly folder: Folder | undefined;
  /** The file of the database, or its address in PostgreSQL. */
  readonly database: string;
  readonly files: Files;
}

/** Names the parts of a place; nothing is made or reached yet. */
export function located({ dataDir, store, files = store }: Place): Located {
  const folder = folderAt(dataDir);
  return {
    name: store === undefined ? folder.path : withoutPassword(store),
    folder: store === undefined ? folder : undefined,
    database: store ?? folder.database,
    files: openFiles(files === undefined ? { folder: folder.path } : { folder: folder.copies, url: files }),
  };
}
