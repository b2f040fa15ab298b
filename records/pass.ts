import { ApiError } from "../client/errors";
import { type Batch, batchesOf } from "./batch";
import { Gate } from "./in-flight";
import type { Plan } from "./plan";
import { refusedOf } from "./refused";
import { type Reject, Rejects } from "./rejects";
import { assertUnchanged, bytesIn } from "./source";
import { TooManyFailuresError, type Upload, type Uploaded } from "./upload-order";

/** Refused records after which there is no sense in going on, beyond those that are allowed. */
const hopelessAfter = 1000;

/** One reading of a source from beginning to end, and what is sent meanwhile. */
export class Pass {
  #skipped = 0;
  #taken = 0;
  #bytes = 0;
  #failure: Error | undefined;
  readonly rejects: Rejects;
  readonly #totalBytes: number;
  readonly #gate: Gate;

  constructor(
    readonly order: Upload,
    readonly plan: Plan,
    /** Called before each batch that is sent. */
    readonly onSending: () => void,
  ) {
    this.rejects = new Rejects(order.rejectsFile, order.redact);
    this.#gate = new Gate(order.parallel);
    this.#totalBytes = bytesIn(order.files);
  }

  /** Reads the source once, and sends what the plan does not skip. */
  async all(): Promise<Omit<Uploaded, "token">> {
    // If a file changed meanwhile, that is the error to report.
    await this.#pass().finally(() => assertUnchanged(this.order.files));
    if (this.#failure) throw this.#failure;
    const uploaded = {
      recordCount: this.#taken,
      failedCount: this.rejects.count,
      sentCount: this.#taken - this.#skipped,
    };
    if (!this.plan.mustBeginAgain && this.rejects.count > this.order.maxFailures)
      throw this.#tooMany(uploaded);
    return uploaded;
  }

  async #pass(): Promise<void> {
    const { signal } = this.order;
    const reject = (refused: Reject) => {
      this.rejects.add(refused);
      return !this.#isHopeless;
    };
    const onBytes = (count: number) => {
      this.#bytes += count;
    };
    let batchCount = 0;
    try {
      for await (const batch of batchesOf({ ...this.order, reject, onBytes })) {
        signal?.throwIfAborted();
        batchCount++;
        if (this.plan.skips(batch)) this.#skip(batch);
        else {
          await this.#gate.enter(batch.ids);
          this.onSending();
          void this.#send(batch);
        }
        if (this.#failure || this.#isHopeless || this.plan.mustBeginAgain) return;
      }
    } finally {
      await this.#gate.drained();
      this.rejects.close();
    }
    if (!this.#isHopeless) this.plan.end(batchCount);
  }

  get #isHopeless(): boolean {
    return this.rejects.count > this.order.maxFailures + hopelessAfter;
  }

  #skip(batch: Batch): void {
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
      // The next run sends a batch with refused records again: the cause may be gone by then.
      this.plan.settle(batch, new Set(refused.map(({ id }) => id)));
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

  #tooMany(uploaded: Omit<Uploaded, "token">): Error {
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
