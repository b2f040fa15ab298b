import { isPostgresUrl } from "../../store/address";
import { BucketFiles } from "./bucket-files";
import { DatabaseFiles } from "./database-files";
import { DirectoryFiles } from "./directory-files";
import type { Files, Location } from "./files";

/** Returns the storage at a location. Does not connect or create anything yet. */
export function openFiles({ folder, url }: Location): Files {
  if (url === undefined) return new DirectoryFiles(folder);
  return isPostgresUrl(url) ? new DatabaseFiles({ folder, url }) : new BucketFiles({ folder, url });
}
