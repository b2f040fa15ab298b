import { ApiError } from "../client/errors";
import { type Reply, wireName } from "../contract";
import { type Batch, batchesOf } from "./batch";
import { ConcurrencyLimit } from "./concurrency-limit";
import type { RecordKind } from "./kind";
import type { Plan } from "./plan";
import { type Reject, Rejects } from "./rejects";
import { assertUnchanged, bytesIn } from "./source";
import { TooManyFailuresError, type UploadOptions, type UploadResult } from "./upload-options";

/** Number of rejected records beyond `maxFailures` after which the upload stops. */
const maxExtraRejects = 1000;

/** Options of a pass. */
interface PassOptions extends UploadOptions {
  /** Headers of each batch. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One pass over a source: reads it once and sends the batches that the plan does not skip. */
export class Pass {
  #skipped = 0;
  #accepted = 0;
  #bytes = 0;
  #failure: Error | undefined;
  readonly #totalBytes: number;
  readonly #limit: ConcurrencyLimit;

  private constructor(
    readonly options: PassOptions,
    readonly plan: Plan,
    readonly onSending: () => void,
    readonly rejects: Rejects,
  ) {
    this.#limit = new ConcurrencyLimit(options.parallel);
    this.#totalBytes = bytesIn(options.files);
  }

  /** Runs a pass over the source of an upload. `onSending` is called before each batch is sent. */
  static async run(
    options: PassOptions,
    plan: Plan,
    onSending: () => void,
  ): Promise<Omit<UploadResult, "token">> {
    const rejects = await Rejects.open(options.rejectsFile, options.files, options.redact);
    return new Pass(options, plan, onSending, rejects).#run();
  }

  async #run(): Promise<Omit<UploadResult, "token">> {
    // If a file changed during the pass, that explains most other errors, so this is reported instead of them.
    await this.#pass().finally(() => assertUnchanged(this.options.files));
    if (this.#failure) throw this.#failure;
    const uploaded = {
      recordCount: this.#accepted,
      failedCount: this.rejects.count,
      sentCount: this.#accepted - this.#skipped,
    };
    if (!this.plan.mustRestart && this.rejects.count > this.options.maxFailures)
      throw this.#tooManyRejects(uploaded);
    return uploaded;
  }

  async #pass(): Promise<void> {
    const { signal } = this.options;
    const reject = (record: Reject) => {
      this.rejects.add(record);
      return !this.#hasTooManyRejects;
    };
    const onBytes = (count: number) => {
      this.#bytes += count;
    };
    let batchCount = 0;
    try {
      for await (const batch of batchesOf({ ...this.options, reject, onBytes })) {
        signal?.throwIfAborted();
        batchCount++;
        if (this.plan.skips(batch)) this.#skip(batch);
        else {
          await this.#limit.acquire(batch.ids);
          this.onSending();
          void this.#send(batch);
        }
        if (this.#failure || this.#hasTooManyRejects || this.plan.mustRestart) return;
      }
    } finally {
      await this.#limit.drained();
      this.rejects.close();
    }
    if (!this.#hasTooManyRejects) this.plan.end(batchCount);
  }

  get #hasTooManyRejects(): boolean {
    return this.rejects.count > this.options.maxFailures + maxExtraRejects;
  }

  #skip(batch: Batch): void {
    this.#accepted += batch.entries.length;
    this.#skipped += batch.entries.length;
    this.#report();
  }

  async #send(batch: Batch): Promise<void> {
    const { client, kind, signal, datasetId, headers } = this.options;
    const ids = { [wireName(`${kind.type}DatasetId`)]: datasetId };
    const onRetry = (error: Error) => {
      if (error instanceof ApiError && (error.status === 429 || error.status === 503)) this.#limit.slowDown();
    };
    try {
      if (this.#failure) return;
      const reply = await client.send(kind.route, batch.body, { signal, onRetry, ids, headers });
      const rejected = rejectedRecords(batch, reply, kind);
      for (const reject of rejected) this.rejects.add(reject);
      this.#accepted += batch.entries.length - rejected.length;
      // The next run sends a batch with rejected records again, because the cause may be fixed by then.
      this.plan.acknowledge(batch, new Set(rejected.map(({ id }) => id)));
      this.#report();
    } catch (error) {
      this.#failure ??= error as Error;
    } finally {
      this.#limit.release(batch.ids);
    }
  }

  #report(): void {
    this.options.onProgress?.({
      bytes: this.#bytes,
      totalBytes: this.#totalBytes,
      recordCount: this.#accepted,
      failedCount: this.rejects.count,
      skippedCount: this.#skipped,
    });
  }

  #tooManyRejects(uploaded: Omit<UploadResult, "token">): Error {
    const { count, path, first } = this.rejects;
    const { maxFailures, maxFailuresName = "maxFailures" } = this.options;
    const example = first ? ` The first: ${first.source}:${first.line}: ${first.reason}.` : "";
    return new TooManyFailuresError(
      `${rejectCount(count, this.#hasTooManyRejects)}, but ${maxFailuresName} is ${maxFailures}.${example} ` +
        `See ${path} for ${count === 1 ? "the record and its reason" : "all records and reasons"}. ` +
        "Accepted records are not sent again.",
      uploaded,
    );
  }
}

function rejectCount(count: number, isStopped: boolean): string {
  if (count === 1) return "1 record was rejected";
  return `${count.toLocaleString("en")}${isStopped ? " or more" : ""} records were rejected`;
}

/** Record that the service rejected. */
type RejectedRecord = Reject & { readonly id: string };

/**
 * Returns the records of a batch that the service did not accept. A record that the reply does not mention counts as
 * rejected.
 */
function rejectedRecords(
  batch: Batch,
  { succeedIds, failedIds, failures }: Reply<RecordKind["route"]>,
  kind: RecordKind,
): RejectedRecord[] {
  const accepted = new Set(succeedIds);
  const areAllAccepted = batch.entries.every(({ id }) => accepted.has(id));
  if (failedIds.length === 0 && !failures?.length && areAllAccepted) return [];
  const reasons = new Map((failures ?? []).map(({ index, reason }) => [batch.entries[index]?.id, reason]));
  const failed = new Set(failedIds);
  const records = JSON.parse(batch.body.toString())[`${kind.type}s`] as unknown[];
  // If a batch has an id twice, the last record counts.
  const last = new Map(batch.entries.map((entry, at) => [entry.id, { ...entry, record: records[at] }]));
  return [...last.values()]
    .filter(({ id }) => failed.has(id) || reasons.has(id) || !accepted.has(id))
    .map((entry) => {
      const fallback = failed.has(entry.id)
        ? "the service gave no reason"
        : "the service did not report a result";
      return { ...entry, reason: reasons.get(entry.id) ?? fallback, record: JSON.stringify(entry.record) };
    });
}
