import { BucketFiles } from "./bucket-files";
import type { Files, Location } from "./files";
import { FolderFiles } from "./folder-files";

/** The files at a place; nothing is made or reached yet. */
export function openFiles({ folder, url }: Location): Files {
  return url === undefined ? new FolderFiles(folder) : new BucketFiles({ folder, url });
}
