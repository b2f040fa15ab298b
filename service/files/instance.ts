import Database from "libsql";
import { dataDirectoryAt, isDataDirectory } from "./data-directory";
import { readRunning } from "./lock";

/**
 * Which data a folder holds, found without making or starting anything: "" where it holds none, undefined where that
 * is unknown, as for data that an older version wrote.
 */
export function instanceIn(dir: string): string | undefined {
  const folder = dataDirectoryAt(dir);
  if (!isDataDirectory(folder)) return "";
  return readRunning(folder)?.instanceId ?? storedInstance(folder.database);
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
