import { createHash } from "node:crypto";
import type { Batch } from "./batch";
import { IdFilter } from "./id-filter";
import type { Outcome } from "./journal-format";
import type { UploadJournal } from "./upload-journal";

/**
 * Decides which batches of a source are sent and which are skipped, in one pass over the source. For every id the last
 * accepted record must win, as if everything were sent in order. Therefore:
 * - A batch that shares an id with an earlier batch of this upload is sent after it, even if it has not changed.
 * - If a batch no longer brings an id that an earlier batch may hold too, the earlier record must win again. The pass
 *   ends, and everything is sent in a second one.
 */
export class Plan {
  /** Ids of all batches so far. */
  readonly #seen: IdFilter;
  /** Ids of the batches that this upload has sent, now or before it was interrupted. */
  readonly #touched: IdFilter | undefined;
  readonly #shared = new Set<number>();
  readonly #outcomes = new Map<number, Outcome>();
  #mustBeginAgain = false;

  constructor(
    private readonly journal: UploadJournal,
    sourceBytes: number,
  ) {
    this.#seen = new IdFilter(sourceBytes);
    this.#touched = journal.knowsAny ? new IdFilter(sourceBytes) : undefined;
  }

  /** Whether an earlier record must win again, which takes a pass that sends everything. */
  get mustBeginAgain(): boolean {
    return this.#mustBeginAgain;
  }

  /** All batches, by their place in the source. */
  get outcomes(): ReadonlyMap<number, Outcome> {
    return this.#outcomes;
  }

  /** Whether the dataset holds the batch already; to be asked for each batch in the order of the source. */
  skips(batch: Batch): boolean {
    const { index, hash, ids } = batch;
    const isShared = this.#seen.add(ids);
    if (isShared) this.#shared.add(index);
    const own = this.journal.sent(index);
    const known = own ?? this.journal.before(index);
    const isBlocked = this.journal.isCareful ? isShared : this.#touched?.hasAny(ids) === true;
    const isSkipped = known?.hash === hash && !known.isRefused && !isBlocked;
    if (!isSkipped || own) this.#touched?.add(ids);
    if (isSkipped) {
      this.#outcomes.set(index, { ...known, isShared });
      if (own) this.#lookForLost(index, idsOf(batch));
    }
    return isSkipped;
  }

  /** Takes in which records of a batch the service has refused. */
  settle(batch: Batch, refused: ReadonlySet<string>): void {
    const { index, hash } = batch;
    const ids = idsOf(batch).filter((id) => !refused.has(id));
    const isShared = this.#shared.has(index);
    const outcome = { hash, count: ids.length, ids: digestOf(ids), isShared, isRefused: refused.size > 0 };
    this.#outcomes.set(index, outcome);
    this.journal.acknowledge(index, outcome);
    this.#lookForLost(index, ids);
  }

  /** Takes in that the source has no further batch. */
  end(batchCount: number): void {
    const gone = this.journal.beforeFrom(batchCount);
    if (gone.some(({ isShared, count }) => isShared && count > 0)) this.#mustBeginAgain = true;
  }

  /** Looks for ids that the batch brought last time and brings no longer. */
  #lookForLost(index: number, ids: readonly string[]): void {
    const before = this.journal.before(index);
    if (!before?.isShared) return;
    // Appending records to a batch loses none.
    if (digestOf(ids.slice(0, before.count)) !== before.ids) this.#mustBeginAgain = true;
  }
}

const idsOf = ({ entries }: Batch): string[] => entries.map(({ id }) => id);

function digestOf(ids: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(ids)).digest("base64url").slice(0, 22);
}
