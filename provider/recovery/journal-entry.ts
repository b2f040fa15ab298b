/** Entry in the recovery journal about one create. It is written before the create is sent. */
export interface JournalEntry {
  readonly urn: string;
  /** Digest of the service's address or data id. Older versions stored the address. */
  readonly service: string;
  /** Address of the service, for messages. Absent if it is secret. */
  readonly address?: string;
  /** Canonical URL of the stack's backend. Absent in files of 0.1.0. */
  readonly backend?: string;
  /**
   * Identity of the stack, which survives a rename (see `lineageIn`). Absent in files of 0.1.0, or if it was unknown.
   */
  readonly lineage?: string;
  /** Fingerprint of the API key. Absent in files of 0.1.0 and for embedded services. */
  readonly account?: string;
  readonly path: string;
  /** Digest that identifies the create when it is tried again. */
  readonly identity: string;
  /** Idempotency key of every attempt. */
  readonly key: string;
  /** Whether the key is derived from an earlier job, so it is the same on every machine. */
  readonly derived: boolean;
  /**
   * Name in the request, if the name does not identify the create. A repeated call must have the same name. The other
   * arguments may be secret, so they are not recorded.
   */
  readonly request?: Readonly<Record<string, unknown>>;
  readonly at: string;
  readonly pid: number;
  readonly host: string;
  /** Address of the engine. */
  readonly engine?: string;
  /** Ids of matching objects that existed before the call. They are not candidates if the response is lost. */
  readonly before?: readonly string[];
  /** Id of the created object. Absent while unknown. */
  readonly id?: string;
  /** Fields of the reply that are not in the request. */
  readonly reply?: Readonly<Record<string, unknown>>;
  /**
   * Whether the reply still has to be checked to be about the object of this call. Stays true if the run is killed
   * before the check.
   */
  readonly isUnchecked?: boolean;
}

/** Compares the lineage of the stack that wrote an entry with a given lineage. */
export function compareLineage(
  { lineage: writer }: JournalEntry,
  lineage: string | undefined,
): "same" | "different" | "unknown" {
  if (writer === undefined || lineage === undefined) return "unknown";
  return writer === lineage ? "same" : "different";
}
