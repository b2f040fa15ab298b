import type { Client } from "../client/client";
import type { Totals } from "./journal-format";
import type { RecordKind } from "./kind";
import type { Mapping } from "./mapping/mapping";
import type { SourceFile } from "./source";
import type { Evidence } from "./trust";

/** Upserts under way at once unless another number is given. */
export const defaultParallel = 8;

/** How far an upload is. */
export interface Progress extends Totals {
  readonly bytes: number;
  readonly totalBytes: number;
  /** Records that were acknowledged in an earlier run and not sent again. */
  readonly skippedCount: number;
}

/** What is uploaded, where to, and how. */
export interface Upload {
  readonly client: Client;
  readonly kind: RecordKind;
  readonly datasetId: string;
  readonly files: readonly SourceFile[];
  readonly contentHash: string;
  readonly mapping: Mapping;
  /** Names the source among those that fill the dataset. */
  readonly owner: string;
  /** Where refused records are written. */
  readonly rejectsFile: string;
  /** Where the records are secret: gives a reason without their values; the file of refused ones leaves them out then. */
  readonly redact?: ((reason: string) => string) | undefined;
  /** Refused records that are put up with. */
  readonly maxFailures: number;
  /** How the one who gave it calls maxFailures, for messages. */
  readonly maxFailuresName?: string;
  readonly parallel: number;
  /** Shards of the dataset, where they are known. */
  readonly numShards?: number | undefined;
  /** What is on record of earlier uploads of this source; without it everything is sent. */
  readonly evidence?: Pick<Evidence, "recorded" | "unrecorded"> | undefined;
  /** Sends everything, whatever was acknowledged before. */
  readonly force?: boolean;
  /** Called before the first batch is sent, with the token of the upload. */
  readonly onSending?: (token: string) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Called if the upload cannot be resumed after an interruption, with the reason. */
  readonly onUnresumable?: (message: string) => void;
  /** Called at the end if there is a step that the user should take, such as an addition to .gitignore. */
  readonly onHint?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** What an upload came to, and how much of it this run has sent. */
export interface Uploaded extends Totals {
  readonly sentCount: number;
  /** Names the upload, for the record of the caller. */
  readonly token: string;
}

/** More records were refused than are put up with. */
export class TooManyFailuresError extends Error {
  override readonly name = "TooManyFailuresError";

  constructor(
    message: string,
    /** What was uploaded all the same. */
    readonly uploaded: Omit<Uploaded, "token">,
  ) {
    super(message);
  }
}
