// files/storage/ keeps models and results by name: in a folder, in the database, or in a bucket.

import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";

/** What is written: bytes, piece by piece. */
export type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A file that is being read. */
export interface Reading {
  readonly bytes: number;
  readonly stream: Readable;
}

/** A file in a list. */
export interface Listed {
  readonly name: string;
  /** When it was written, in milliseconds since 1970, by the clock of the place. */
  readonly writtenTs: number;
}

/** Where files lie, as a thread is told it. */
export interface Location {
  /** The folder of the files, or of their copies where they lie elsewhere. */
  readonly folder: string;
  /** The address of a bucket, such as `s3://models/shop`, or of a database; in the folder where left out. */
  readonly url?: string;
}

/** Which copy of a file is opened. */
export interface CopyOptions {
  readonly refresh?: boolean;
  readonly version?: number;
}

/** The name of the copy of a file in a version. */
export function copyName(name: string, version: number): string {
  return version === 0 ? basename(name) : `${basename(name)}.v${version}`;
}

/** Models and results by name; a name is there as a whole or not at all. */
export interface Files {
  readonly location: Location;
  /** The place as messages name it. */
  readonly label: string;
  /** Whether nobody but this service writes there. */
  readonly isTrusted: boolean;
  /** Fails, in words for people, where nothing can be kept there, or where those of other data are kept. */
  check(instanceId: string): Promise<void>;
  write(name: string, content: Content): Promise<void>;
  /** The file from its beginning to its end, in pieces of at most a size if one is given; undefined if there is none. */
  read(name: string, how?: { readonly pieceBytes: number }): Promise<Reading | undefined>;
  /**
   * The file on this machine, to be read from any place in it. `anew` ignores the copy on this machine; so does another
   * `version` than the copy has, for forgotten users were removed since.
   */
  open(name: string, how?: CopyOptions): Promise<FileHandle | undefined>;
  remove(name: string): Promise<void>;
  list(prefix: string): Promise<Listed[]>;
  /** An address under which anybody can read the file for so long; undefined where the service itself must serve it. */
  link(name: string, seconds: number): Promise<string | undefined>;
  /** Removes what broken-off writes left so long ago. */
  cleanUp(afterMs?: number): Promise<void>;
  /** Removes the copies on this machine but for those with these names, see `copyName`. */
  cleanUpCopies(existing: ReadonlySet<string>, afterMs?: number): Promise<void>;
  close(): void;
}

/** The name of a model's file. */
export function modelName(modelId: string): string {
  return `models/${modelId}`;
}

/** A try of a job: each has files of its own, for a process that lost the job may still write. */
export interface Attempt {
  readonly id: string;
  readonly attempt: number;
}

/** The name of a result's file: its JSON, or the chart of one of its queries. */
export function resultName({ id, attempt }: Attempt, form: "" | "json" | `${number}.svg`): string {
  // Version 0.1.0 counted no attempts.
  return `results/${attempt === 0 ? id : `${id}.${attempt}`}.${form}`;
}

/** Longer than any write takes: what is older and not finished never will be. */
export const abandonedAfterMs = 24 * 60 * 60 * 1000;
