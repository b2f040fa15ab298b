import { isPostgresUrl } from "../../store/address";
import { BucketFiles } from "./bucket-files";
import { DatabaseFiles } from "./database-files";
import type { Files, Location } from "./files";
import { FolderFiles } from "./folder-files";

/** The files at a place; nothing is made or reached yet. */
export function openFiles({ folder, url }: Location): Files {
  if (url === undefined) return new FolderFiles(folder);
  return isPostgresUrl(url) ? new DatabaseFiles({ folder, url }) : new BucketFiles({ folder, url });
}
