import { join } from "node:path";
import { digest, readIfPossible, replaceFile, stateDirectory } from "../../client/state-directory";
import type { Format } from "../formats/format";
import type { Mapping } from "../mapping/mapping";
import { remoteSourceAt } from "./address";

/** Settings that determine the records in a remote source. */
interface Reading {
  readonly source: string;
  readonly format?: Format | undefined;
  readonly mapping: Mapping;
}

/**
 * Returns a key for the content of a remote source at a version, and how it is read. Equal keys mean equal content
 * hashes. Undefined if the version is unknown.
 */
export function versionKey(
  { source, format, mapping }: Reading,
  version: string | undefined,
): string | undefined {
  if (version === undefined) return undefined;
  const fields = Object.entries(mapping).sort(([a], [b]) => (a < b ? -1 : 1));
  return digest([source, version, format ?? null, fields]);
}

/** Returns the key of the current content of a remote source. Undefined for other sources. */
export async function currentVersionKey(reading: Reading): Promise<string | undefined> {
  const remote = remoteSourceAt(reading.source);
  return remote && versionKey(reading, await remote.version());
}

/**
 * Returns the text that the state stores about a key and the content hash that belongs to it. It proves both, so an
 * edited or merged state cannot make changed content look unchanged.
 */
export function versionProof(key: string | undefined, contentHash: string): string | undefined {
  return key && digest([key, contentHash]);
}

/** Returns the content hash that this machine has computed for a key. */
export function hashOfVersion(key: string): string | undefined {
  return readIfPossible(hashFile(key));
}

/** Stores the content hash of a key, so this machine does not read an unchanged source again. */
export function rememberHash(key: string | undefined, contentHash: string): void {
  if (key !== undefined) replaceFile(hashFile(key), contentHash);
}

function hashFile(key: string): string {
  return join(stateDirectory("source-versions"), key);
}
