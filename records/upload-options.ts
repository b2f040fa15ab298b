import type { Client } from "../client/client";
import type { Totals } from "./journal-format";
import type { RecordKind } from "./kind";
import type { Mapping } from "./mapping/mapping";
import type { UploadHistory } from "./skip-mode";
import type { SourceFile } from "./source";

/** Default number of concurrent upsert calls. */
export const defaultParallel = 8;

/** Progress of an upload. */
export interface Progress extends Totals {
  readonly bytes: number;
  readonly totalBytes: number;
  /** Number of records that were skipped, because an earlier run has sent them. */
  readonly skippedCount: number;
}

/** Options of an upload. */
export interface UploadOptions {
  readonly client: Client;
  readonly kind: RecordKind;
  readonly datasetId: string;
  readonly files: readonly SourceFile[];
  readonly contentHash: string;
  readonly mapping: Mapping;
  /** Name of the source, unique among the sources of the dataset. */
  readonly owner: string;
  /** File for rejected records. */
  readonly rejectsFile: string;
  /** Removes values from a reason. Set only if the records are secret; then the rejects file contains no records. */
  readonly redact?: ((reason: string) => string) | undefined;
  /** Maximum number of rejected records. With more, the upload fails. */
  readonly maxFailures: number;
  /** Name of `maxFailures` for messages, such as `--max-failures`. */
  readonly maxFailuresName?: string;
  readonly parallel: number;
  /** Number of shards of the dataset, if known. */
  readonly numShards?: number | undefined;
  /** Earlier uploads of this source. If it is missing, everything is sent. */
  readonly history?: Pick<UploadHistory, "recorded" | "unrecorded"> | undefined;
  /**
   * Whether to announce the upload to the service. Set it if a stack's state records the token. A later run on any
   * machine then notices an upload that was interrupted before the state recorded it.
   */
  readonly isAnnounced?: boolean;
  /** Sends everything, even acknowledged batches. */
  readonly force?: boolean;
  /** Called before the first batch is sent, with the token of the upload. */
  readonly onSending?: (token: string) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Called with the reason if progress cannot be recorded, so an interrupted upload would start over. */
  readonly onUnresumable?: (message: string) => void;
  /** Called at the end if there is a step that the user should take, such as an addition to .gitignore. */
  readonly onHint?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** Result of an upload. */
export interface UploadResult extends Totals {
  /** Number of accepted records that this run has sent. */
  readonly sentCount: number;
  /** Token of the upload, which the caller stores. */
  readonly token: string;
}

/** Error if more records were rejected than `maxFailures` allows. */
export class TooManyFailuresError extends Error {
  override readonly name = "TooManyFailuresError";

  constructor(
    message: string,
    /** Counts of the upload. */
    readonly uploaded: Omit<UploadResult, "token">,
  ) {
    super(message);
  }
}
