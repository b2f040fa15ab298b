/** Types of the data about datasets and their records. */

export interface ProjectChoice {
  readonly id: string;
  readonly name: string;
  readonly isDeployed: boolean;
}

export interface DatasetSummary {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly records: number;
  readonly capacity: number;
  readonly numShards: number;
  /** Whether a replacement or a deletion left the dataset behind. */
  readonly isOrphaned: boolean;
}

export interface AttributeSummary {
  readonly name: string;
  readonly handling: string;
  readonly isDeclared: boolean;
  /** How many of the sampled records have the attribute. */
  readonly filled: number;
  readonly values: readonly {
    readonly value: string;
    readonly count: number;
    /** False if the value was shortened. */
    readonly isWhole: boolean;
  }[];
  readonly distinct: number;
  readonly range: { readonly min: number; readonly mean: number; readonly max: number } | null;
}

export interface DatasetResponse extends DatasetSummary {
  readonly createdTs: number;
  readonly shards: readonly number[];
  readonly projects: readonly ProjectChoice[];
  /** Number of records that `attributes` is based on. */
  readonly sampled: number;
  readonly attributes: readonly AttributeSummary[];
  readonly events: EventsSummary | null;
  readonly refusals: Rejections;
}

/** Records that upserts rejected in the last days, by reason, most frequent first. */
export interface Rejections {
  readonly days: number;
  readonly reasons: readonly {
    readonly reason: string;
    readonly records: number;
    readonly lastTs: number;
    /** The latest rejected records. */
    readonly last: readonly { readonly id: string | null; readonly reason: string }[];
  }[];
  /** How many more reasons there are. */
  readonly otherReasons: number;
}

export interface EventsSummary {
  /** Number of events that the figures are based on: the newest ones. */
  readonly sampled: number;
  readonly types: readonly string[];
  readonly days: readonly { readonly day: string; readonly counts: readonly number[] }[];
  readonly users: readonly { readonly id: string; readonly count: number }[];
  readonly items: readonly { readonly id: string; readonly count: number }[];
  readonly distinctUsers: number;
  readonly distinctItems: number;
  /** Events per item, most chosen first, downsampled. */
  readonly tail: readonly number[];
}

export interface EventRow {
  readonly eventId: string;
  readonly userId: string;
  readonly itemId: string;
  readonly ts: number;
  readonly eventType: string;
  readonly eventValue: number;
}

export interface RecordResponse {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>> | null;
  readonly events: readonly EventRow[];
  /** Whether older events were left out. */
  readonly isMore: boolean;
}
