import Database from "libsql";
import { dataDirectoryAt, isDataDirectory } from "./data-directory";
import { readRunning } from "./lock";

/**
 * Returns the id of the data in a directory, without creating or starting anything. Returns "" if the directory
 * contains no data, and undefined if the id is unknown, as for data of an older version.
 */
export function instanceIn(dir: string): string | undefined {
  const dataDirectory = dataDirectoryAt(dir);
  if (!isDataDirectory(dataDirectory)) return "";
  return readRunning(dataDirectory)?.instanceId ?? storedInstance(dataDirectory.database);
}

function storedInstance(file: string): string | undefined {
  try {
    const database = new Database(file, { readonly: true });
    try {
      return (database.prepare("select id from instance").get() as { id: string } | undefined)?.id;
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}
