import type { SourceFile } from "../source";

/** Copies of remote sources in this process, by content hash. */
const copies = new Map<string, readonly SourceFile[]>();

/**
 * Keeps the copy of a remote source until this process uploads it. The upload then sends exactly the content that was
 * hashed, even if the source has changed since, and the content is downloaded only once.
 */
export function keepCopy(contentHash: string, files: readonly SourceFile[]): void {
  if (files.some(({ isCopy }) => isCopy)) copies.set(contentHash, files);
}

/** Returns the copy with a content hash, if this process has one. */
export function keptCopy(contentHash: string): readonly SourceFile[] | undefined {
  return copies.get(contentHash);
}
