import { parseJson } from "../client/parse";
import type { JournaledUpload } from "./skip-mode";

/** Counts of an upload. */
export interface Totals {
  /** Number of records that the service accepted. */
  readonly recordCount: number;
  /** Number of records that were rejected, before sending or by the service. */
  readonly failedCount: number;
}

/** Result of one batch. */
export interface Outcome {
  /** Hash of the content. */
  readonly hash: string;
  /** Number of accepted records. */
  readonly count: number;
  /** Digest of the ids of the accepted records, in order. */
  readonly ids: string;
  /** Whether an earlier batch may contain an id of this batch. */
  readonly isShared: boolean;
  /** Whether the service rejected a record of the batch. */
  readonly hasRejects: boolean;
}

/** Section of the journal file about one upload. */
export interface Section extends JournaledUpload {
  /** Token of the last completed upload. Batches that have not changed since then are skipped. */
  readonly base?: string | undefined;
  /** Whether a batch is skipped only if it shares no id with an earlier batch. */
  readonly isCareful: boolean;
  readonly batches: Map<number, Outcome>;
  /** Counts of the upload, set when it is complete. */
  readonly totals?: Totals | undefined;
}

/** Formats the line of a batch: index, hash, count, digest of ids, and flags (s: shared, r: has rejects). */
export function lineOf(index: number, { hash, count, ids, isShared, hasRejects }: Outcome): string {
  return `${index} ${hash} ${count} ${ids} ${isShared ? "s" : ""}${hasRejects ? "r" : ""}.`;
}

/** Upload with an unreadable header. */
const unknown: Section = {
  token: "unknown",
  contentHash: "unknown",
  isUnknown: true,
  isCareful: true,
  batches: new Map(),
};

const batchLine = /^(\d+) (\S{22}) (\d+) (\S{22}) (s?)(r?)\.$/;

/**
 * Reads the last complete upload and the upload that began after it. If a header is damaged or from an earlier version,
 * no batch of that upload can be skipped, so the next upload sends everything.
 */
export function readSections(text: string): { finished?: Section | undefined; open?: Section | undefined } {
  let finished: Section | undefined;
  let open: Section | undefined;
  for (const line of text.split("\n").slice(0, -1)) {
    const [, index, hash, count, ids, isShared, hasRejects] = batchLine.exec(line) ?? [];
    if (hash !== undefined && ids !== undefined) {
      const flags = { isShared: isShared === "s", hasRejects: hasRejects === "r" };
      if (open !== unknown) open?.batches.set(Number(index), { hash, count: Number(count), ids, ...flags });
    } else if (line.startsWith("{")) {
      const { version, recordCount, failedCount, ...header } = parsed(line);
      if (recordCount !== undefined && failedCount !== undefined) {
        finished = open && open !== unknown ? { ...open, totals: { recordCount, failedCount } } : undefined;
        open = undefined;
      } else {
        open = version === 2 ? ({ ...header, batches: new Map() } as Section) : unknown;
      }
    }
  }
  return { finished, open };
}

function parsed(line: string): { readonly version?: number } & Partial<Totals> {
  return parseJson(line) ?? {};
}
