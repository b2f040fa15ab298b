/** What the console's page gets of datasets and their records. */

export interface ProjectChoice {
  readonly id: string;
  readonly name: string;
  readonly isDeployed: boolean;
}

export interface DatasetShort {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly records: number;
  readonly capacity: number;
  readonly numShards: number;
  /** Whether a replacement or a deletion left it behind. */
  readonly isOrphaned: boolean;
}

export interface AttributeAnswer {
  readonly name: string;
  readonly handling: string;
  readonly isDeclared: boolean;
  /** Of the records looked at, how many have it. */
  readonly filled: number;
  readonly values: readonly {
    readonly value: string;
    readonly count: number;
    /** Whether nothing of it was cut. */
    readonly isWhole: boolean;
  }[];
  readonly distinct: number;
  readonly range: { readonly min: number; readonly mean: number; readonly max: number } | null;
}

export interface DatasetAnswer extends DatasetShort {
  readonly createdTs: number;
  readonly shards: readonly number[];
  readonly projects: readonly ProjectChoice[];
  /** Records that the attributes were looked at in. */
  readonly sampled: number;
  readonly attributes: readonly AttributeAnswer[];
  readonly events: EventsAnswer | null;
  /** How it grew of late; null where no honest rate can be given. */
  readonly growth: {
    readonly perDay: number;
    readonly days: number;
    /** When that would fill it; null where that is years off. */
    readonly fullTs: number | null;
  } | null;
  readonly refusals: RefusalsAnswer;
}

/** What upserts refused over some days, by reason, most frequent first. */
export interface RefusalsAnswer {
  readonly days: number;
  readonly reasons: readonly {
    readonly reason: string;
    readonly records: number;
    readonly lastTs: number;
    /** The last few. */
    readonly last: readonly { readonly id: string | null; readonly reason: string }[];
  }[];
  /** Reasons that are not among these. */
  readonly otherReasons: number;
}

export interface EventsAnswer {
  /** Events that were looked at, the newest that were written. */
  readonly sampled: number;
  readonly types: readonly string[];
  readonly days: readonly { readonly day: string; readonly counts: readonly number[] }[];
  readonly users: readonly { readonly id: string; readonly count: number }[];
  readonly items: readonly { readonly id: string; readonly count: number }[];
  readonly distinctUsers: number;
  readonly distinctItems: number;
  /** Events of each item, most chosen first, thinned out. */
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

export interface RecordAnswer {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>> | null;
  readonly events: readonly EventRow[];
  /** Whether older events were left out. */
  readonly isMore: boolean;
}
