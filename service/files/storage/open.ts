import { isPostgresUrl } from "../../store/address";
import { BucketFiles } from "./bucket-files";
import { DatabaseFiles } from "./database-files";
import { DirectoryFiles } from "./directory-files";
import type { Files, Location } from "./files";

/** Returns the storage at a location. Does not connect or create anything yet. */
export function openFiles({ directory, url }: Location): Files {
  if (url === undefined) return new DirectoryFiles(directory);
  return isPostgresUrl(url) ? new DatabaseFiles({ directory, url }) : new BucketFiles({ directory, url });
}
