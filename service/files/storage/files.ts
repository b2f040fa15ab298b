// files/storage/ stores models and results by name: in a directory, in the database, or in a bucket.

import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";

/** Content of a file, in pieces. */
export type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** An open stream of a file. */
export interface Reading {
  readonly bytes: number;
  readonly stream: Readable;
}

/** A listed file. */
export interface Listed {
  readonly name: string;
  /** Time of writing in milliseconds since 1970, by the clock of the storage. */
  readonly writtenTs: number;
}

/** Location of a storage. Can be sent to threads. */
export interface Location {
  /** Directory of the files, or of their local copies if `url` is set. */
  readonly directory: string;
  /** Address of a bucket, such as `s3://models/shop`, or of a database. */
  readonly url?: string;
}

/** Which local copy of a remote file to open, and whether to download it again. */
export interface CopyOptions {
  /** Discards the local copy first. */
  readonly refresh?: boolean;
  /** Increases whenever forgotten users are removed from the file. Each version has a separate copy. */
  readonly version?: number;
}

/** Returns the name of the local copy of a version of a file. */
export function copyName(name: string, version: number): string {
  return version === 0 ? basename(name) : `${basename(name)}.v${version}`;
}

/** Stores models and results by name. A file is stored completely or not at all. */
export interface Files {
  readonly location: Location;
  /** Name of the storage in messages. */
  readonly label: string;
  /** Whether only this service writes to the storage. */
  readonly isTrusted: boolean;
  /** Throws if the storage cannot be written to, or if it contains the files of another service. */
  check(instanceId: string): Promise<void>;
  write(name: string, content: Content): Promise<void>;
  /** Reads a file. Returns undefined if it does not exist. */
  read(name: string, how?: { readonly pieceBytes: number }): Promise<Reading | undefined>;
  /**
   * Opens a file for random access, through a local copy if it is stored remotely. Returns undefined if it does not
   * exist.
   */
  open(name: string, how?: CopyOptions): Promise<FileHandle | undefined>;
  remove(name: string): Promise<void>;
  list(prefix: string): Promise<Listed[]>;
  /** Returns a temporary public URL of a file of a media type, or undefined if the service itself must serve it. */
  link(name: string, seconds: number, type: string): Promise<string | undefined>;
  /** Deletes the remains of interrupted writes that are older than `afterMs`. */
  cleanUp(afterMs?: number): Promise<void>;
  /** Deletes local copies, except those with the given names (see `copyName`). */
  cleanUpCopies(existing: ReadonlySet<string>, afterMs?: number): Promise<void>;
  close(): void;
}

/** Returns the name of a model's file. */
export function modelName(modelId: string): string {
  return `models/${modelId}`;
}

/** An attempt of a job. Each attempt has separate files, because a process that lost its lease may still write. */
export interface Attempt {
  readonly id: string;
  readonly attempt: number;
}

/** What a file of a result contains: its JSON, the chart of a query, recommendations, or a chunk of them. */
export type ResultForm = "json" | `${number}.svg` | "ndjson" | "parquet" | `chunk-${number}`;

/** Returns the name of a result's file, or the prefix of all names. */
export function resultName({ id, attempt }: Attempt, form: "" | ResultForm): string {
  // Version 0.1.0 counted no attempts.
  return `results/${attempt === 0 ? id : `${id}.${attempt}`}.${form}`;
}

/** Longer than any write takes. An incomplete file that is older is abandoned. */
export const abandonedAfterMs = 24 * 60 * 60 * 1000;
