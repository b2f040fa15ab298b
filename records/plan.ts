import { createHash } from "node:crypto";
import type { Batch } from "./batch";
import { IdFilter } from "./id-filter";
import type { Outcome } from "./journal-format";
import type { UploadJournal } from "./upload-journal";

/**
 * Decides which batches of a source are sent and which are skipped, in one pass over the source. For every id, the last
 * accepted record must win, as if everything were sent in order. Therefore:
 * - A batch that shares an id with a batch that this upload has already sent is sent too, even if it has not changed.
 * - If a batch no longer contains an id that an earlier batch may contain, the record in the earlier batch must win
 *   again. The pass ends, and a second pass sends everything.
 */
export class Plan {
  /** Ids of all batches so far. */
  readonly #seen: IdFilter;
  /** Ids of the batches that this upload has sent, in this run or before an interruption. */
  readonly #sent: IdFilter | undefined;
  readonly #shared = new Set<number>();
  readonly #outcomes = new Map<number, Outcome>();
  #mustRestart = false;

  constructor(
    private readonly journal: UploadJournal,
    sourceBytes: number,
  ) {
    this.#seen = new IdFilter(sourceBytes);
    this.#sent = journal.knowsAny ? new IdFilter(sourceBytes) : undefined;
  }

  /** Whether an earlier record must win again, so everything must be sent in another pass. */
  get mustRestart(): boolean {
    return this.#mustRestart;
  }

  /** Results of all batches, by their position in the source. */
  get outcomes(): ReadonlyMap<number, Outcome> {
    return this.#outcomes;
  }

  /**
   * Whether the batch can be skipped, because the dataset already contains it. Must be called for each batch in the
   * order of the source.
   */
  skips(batch: Batch): boolean {
    const { index, hash, ids } = batch;
    const isShared = this.#seen.add(ids);
    if (isShared) this.#shared.add(index);
    const own = this.journal.sent(index);
    const known = own ?? this.journal.before(index);
    const isBlocked = this.journal.isCareful ? isShared : this.#sent?.hasAny(ids) === true;
    const isSkipped = known?.hash === hash && !known.hasRejects && !isBlocked;
    if (!isSkipped || own) this.#sent?.add(ids);
    if (isSkipped) {
      this.#outcomes.set(index, { ...known, isShared });
      if (own) this.#checkForLostIds(index, idsOf(batch));
    }
    return isSkipped;
  }

  /** Records the result of a batch. */
  acknowledge(batch: Batch, rejected: ReadonlySet<string>): void {
    const { index, hash } = batch;
    const ids = idsOf(batch).filter((id) => !rejected.has(id));
    const isShared = this.#shared.has(index);
    const outcome = { hash, count: ids.length, ids: digestOf(ids), isShared, hasRejects: rejected.size > 0 };
    this.#outcomes.set(index, outcome);
    this.journal.acknowledge(index, outcome);
    this.#checkForLostIds(index, ids);
  }

  /** Called after the last batch of the source. */
  end(batchCount: number): void {
    const removed = this.journal.beforeFrom(batchCount);
    if (removed.some(({ isShared, count }) => isShared && count > 0)) this.#mustRestart = true;
  }

  /** Checks whether the batch has lost ids that it contained in the last upload. */
  #checkForLostIds(index: number, ids: readonly string[]): void {
    const before = this.journal.before(index);
    if (!before?.isShared) return;
    // If records were only appended, no id is lost.
    if (digestOf(ids.slice(0, before.count)) !== before.ids) this.#mustRestart = true;
  }
}

const idsOf = ({ entries }: Batch): string[] => entries.map(({ id }) => id);

function digestOf(ids: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(ids)).digest("base64url").slice(0, 22);
}
