import type { Remembered } from "./trust";

/** What an upload came to. */
export interface Totals {
  /** Records that the service accepted. */
  readonly recordCount: number;
  /** Records that were refused, here or by the service. */
  readonly failedCount: number;
}

/** What became of one batch. */
export interface Outcome {
  /** A name for the batch's content. */
  readonly hash: string;
  /** Number of accepted records. */
  readonly count: number;
  /** A digest of the ids of the accepted records, in order. */
  readonly ids: string;
  /** Whether an id of the batch may also be in a batch before it. */
  readonly isShared: boolean;
  /** Whether the service refused a record of the batch. */
  readonly isRefused: boolean;
}

/** One upload as the journal file holds it. */
export interface Section extends Remembered {
  /** The complete upload whose batches this one skips if they have not changed. */
  readonly base?: string | undefined;
  /** Whether a batch is skipped only if it shares no id with any batch before it. */
  readonly isCareful: boolean;
  readonly batches: Map<number, Outcome>;
  /** Present once the upload is complete. */
  readonly totals?: Totals | undefined;
}

/** The line of a batch: its index, what it held, and its flags (s: shared, r: refused). */
export function lineOf(index: number, { hash, count, ids, isShared, isRefused }: Outcome): string {
  return `${index} ${hash} ${count} ${ids} ${isShared ? "s" : ""}${isRefused ? "r" : ""}.`;
}

/** An upload that only its beginning is known of. */
const unknown: Section = {
  ...{ token: "unknown", contentHash: "unknown", isUnknown: true },
  ...{ isCareful: true, batches: new Map() },
};

const batchLine = /^(\d+) (\S{22}) (\d+) (\S{22}) (s?)(r?)\.$/;

/**
 * Reads the last complete upload and the one after it. A header that is damaged, or that an earlier version wrote, begins
 * an upload that nothing can be skipped of: the next one sends everything.
 */
export function readSections(text: string): { finished?: Section | undefined; open?: Section | undefined } {
  let finished: Section | undefined;
  let open: Section | undefined;
  for (const line of text.split("\n").slice(0, -1)) {
    const [, index, hash, count, ids, isShared, isRefused] = batchLine.exec(line) ?? [];
    if (hash !== undefined && ids !== undefined) {
      const flags = { isShared: isShared === "s", isRefused: isRefused === "r" };
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
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
