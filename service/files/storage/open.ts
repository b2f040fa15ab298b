import { isPostgresUrl } from "../../store/address";
import { BucketFiles } from "./bucket-files";
import { DatabaseFiles } from "./database-files";
import { DirectoryFiles } from "./directory-files";
import type { Files, Location } from "./files";

/** The files at a place; nothing is made or reached yet. */
export function openFiles({ folder, url }: Location): Files {
  if (url === undefined) return new DirectoryFiles(folder);
  return isPostgresUrl(url) ? new DatabaseFiles({ folder, url }) : new BucketFiles({ folder, url });
}
