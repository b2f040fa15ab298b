import type { Client } from "../client/client";
import { ApiError } from "../client/errors";
import { Journal, type Totals } from "./acknowledged";
import { type Batch, batchesOf } from "./batch";
import { assertFits } from "./capacity";
import { Gate } from "./in-flight";
import type { RecordKind } from "./kind";
import type { Mapping } from "./mapping/mapping";
import { type Reject, Rejects } from "./rejects";
import { assertUnchanged, type SourceFile } from "./source";

/** Refused records after which there is no sense in going on, beyond those that are allowed. */
const hopelessAfter = 1000;

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
  /** The content that the last whole upload brought, if it can be relied on: only what differs is sent. */
  readonly basis?: string | undefined;
  /** Sends everything, whatever was acknowledged before. */
  readonly force?: boolean;
  readonly onProgress?: (progress: Progress) => void;
  /** Called if the upload cannot be resumed after an interruption, with the reason. */
  readonly onUnresumable?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** What an upload came to, and how much of it this run has sent. */
export interface Uploaded extends Totals {
  readonly sentCount: number;
}

/** More records were refused than are put up with. */
export class TooManyFailuresError extends Error {
  override readonly name = "TooManyFailuresError";

  constructor(
    message: string,
    /** What was uploaded all the same. */
    readonly uploaded: Uploaded,
  ) {
    super(message);
  }
}

/** Uploads a source in one pass. */
export async function upload(order: Upload): Promise<Uploaded> {
  const { files, kind, mapping, client, datasetId, contentHash, numShards } = order;
  if (numShards !== undefined) await assertFits(files, kind, mapping, numShards);
  const journal = new Journal({ service: client.service, datasetId, source: order.owner }, (problem) =>
    order.onUnresumable?.(
      `Cannot record the progress of the upload (${problem}): if it is interrupted, it starts over. ` +
        "Set XDG_STATE_HOME to a folder that can be written to.",
    ),
  );
  const trustFinished = order.basis !== undefined && journal.finished?.contentHash === order.basis;
  if (order.force) journal.clear();
  const run = new Run(order, journal, new Rejects(order.rejectsFile, order.redact));
  journal.begin(contentHash, { trustFinished });
  try {
    // Of a file that changed meanwhile, what could not be read says nothing.
    const uploaded = await run.all().finally(() => assertUnchanged(files));
    const { recordCount, failedCount } = uploaded;
    journal.finish({ recordCount, failedCount });
    return uploaded;
  } finally {
    journal.close();
  }
}

/** The content that the last whole upload of a source brought into a dataset. */
export function finishedUpload(client: Client, datasetId: string, owner: string): Journal["finished"] {
  return new Journal({ service: client.service, datasetId, source: owner }).finished;
}

class Run {
  #skipped = 0;
  #taken = 0;
  #bytes = 0;
  #failure: Error | undefined;
  readonly #totalBytes: number;
  readonly #gate: Gate;

  constructor(
    readonly order: Upload,
    readonly journal: Journal,
    readonly rejects: Rejects,
  ) {
    this.#gate = new Gate(order.parallel);
    this.#totalBytes = order.files.reduce((sum, file) => sum + file.bytes, 0);
  }

  async all(): Promise<Uploaded> {
    const { signal } = this.order;
    const reject = (refused: Reject) => {
      this.rejects.add(refused);
      return !this.#isHopeless;
    };
    const onBytes = (count: number) => {
      this.#bytes += count;
    };
    try {
      for await (const batch of batchesOf({ ...this.order, reject, onBytes })) {
        signal?.throwIfAborted();
        if (this.journal.has(batch.index, batch.hash)) this.#skip(batch);
        else {
          await this.#gate.enter(batch.ids);
          this.journal.sending();
          void this.#send(batch);
        }
        if (this.#failure || this.#isHopeless) break;
      }
    } finally {
      await this.#gate.drained();
      this.rejects.close();
    }
    if (this.#failure) throw this.#failure;
    const uploaded = {
      recordCount: this.#taken,
      failedCount: this.rejects.count,
      sentCount: this.#taken - this.#skipped,
    };
    if (this.rejects.count > this.order.maxFailures) throw this.#tooMany(uploaded);
    return uploaded;
  }

  get #isHopeless(): boolean {
    return this.rejects.count > this.order.maxFailures + hopelessAfter;
  }

  #skip(batch: Batch): void {
    this.journal.acknowledge(batch.index, batch.hash);
    this.#taken += batch.entries.length;
    this.#skipped += batch.entries.length;
    this.#report();
  }

  async #send(batch: Batch): Promise<void> {
    const { client, kind, signal } = this.order;
    const onRetry = (error: Error) => {
      if (error instanceof ApiError && (error.status === 429 || error.status === 503)) this.#gate.slowDown();
    };
    try {
      if (this.#failure) return;
      const reply = await client.send(kind.route, batch.body, { signal, onRetry });
      const refused = refusedOf(batch, reply, kind);
      for (const reject of refused) this.rejects.add(reject);
      this.#taken += batch.entries.length - refused.length;
      // A batch with refused records is sent again by the next run, which may find the cause mended.
      if (refused.length === 0) this.journal.acknowledge(batch.index, batch.hash);
      this.#report();
    } catch (error) {
      this.#failure ??= error as Error;
    } finally {
      this.#gate.leave(batch.ids);
    }
  }

  #report(): void {
    this.order.onProgress?.({
      bytes: this.#bytes,
      totalBytes: this.#totalBytes,
      recordCount: this.#taken,
      failedCount: this.rejects.count,
      skippedCount: this.#skipped,
    });
  }

  #tooMany(uploaded: Uploaded): Error {
    const { count, path, first } = this.rejects;
    const { maxFailures, maxFailuresName = "maxFailures" } = this.order;
    const example = first ? ` The first: ${first.source}:${first.line}: ${first.reason}.` : "";
    return new TooManyFailuresError(
      `${refused(count, this.#isHopeless)} and ${maxFailuresName} is ${maxFailures}.${example} ` +
        `${count === 1 ? "It is" : "All of them are"} in ${path}, with ${count === 1 ? "its reason" : "reasons"}; ` +
        "what was accepted is not sent again.",
      uploaded,
    );
  }
}

function refused(count: number, stopped: boolean): string {
  if (count === 1) return "1 record was refused";
  return `${count.toLocaleString("en")}${stopped ? " or more" : ""} records were refused`;
}

interface Outcome {
  readonly succeedIds: readonly string[];
  readonly failedIds: readonly string[];
  readonly failures?: readonly { readonly index: number; readonly reason: string }[] | null | undefined;
}

/** The records of a batch that the service did not take; what it names in neither list it did not take either. */
function refusedOf(batch: Batch, { succeedIds, failedIds, failures }: Outcome, kind: RecordKind): Reject[] {
  if (failedIds.length === 0 && !failures?.length && succeedIds.length >= batch.ids.size) return [];
  const reasons = new Map((failures ?? []).map(({ index, reason }) => [batch.entries[index]?.id, reason]));
  const failed = new Set(failedIds);
  const taken = new Set(succeedIds);
  const records = JSON.parse(batch.body.toString())[`${kind.noun}s`] as unknown[];
  // Of an id that comes twice the last counts.
  const last = new Map(batch.entries.map((entry, at) => [entry.id, { ...entry, record: records[at] }]));
  return [...last.values()]
    .filter(({ id }) => failed.has(id) || reasons.has(id) || !taken.has(id))
    .map((entry) => {
      const silent = failed.has(entry.id)
        ? "the service gave no reason"
        : "the service says nothing about it";
      return { ...entry, reason: reasons.get(entry.id) ?? silent, record: JSON.stringify(entry.record) };
    });
}
