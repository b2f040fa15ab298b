/** The numbers of the API, used by the client, the resources and the service alike. */
export const limits = {
  // What the specification gives.

  /** Records that one upsert call takes at most; also the recommended size of a batch. */
  recordsPerUpsert: 1000,
  /** Bytes of one event record as JSON; the specification says "20 kb", read here as 20 × 1024. */
  eventBytes: 20 * 1024,
  /** Records that one shard holds at most. */
  recordsPerShard: 100_000,
  /** Shards that the quick-start rule begins with. */
  quickStartShards: 10,
  /** Histogram bins of a distribution query that names none. */
  defaultBins: 20,
  /** Queries per second of a deployment that names none. */
  defaultQps: 1,
  /** Automatic retries of a job at most. */
  jobRetries: 3,

  // What the specification leaves open and the embedded service has chosen: `tolerant` schemas do not check these,
  // as another service may have other limits. They bound requests only: what is stored already stays readable.

  /** Bytes of one user or item record as JSON. */
  recordBytes: 64 * 1024,
  /** Levels of arrays and objects in the attributes of a record. */
  attributeDepth: 32,
  /** Characters of an id. */
  idCharacters: 256,
  /** Bytes of the id of an event; one built of the longest user and item ids fits. */
  eventIdBytes: 2048,
  /** Size of an event's value, above or below 0: sums of such values stay far inside what 32-bit numbers hold. */
  eventValue: 1e12,
  /** Milliseconds of an event's time: the last that is a date. */
  eventTs: 8.64e15,
  /** Characters of a name, an event type or the name of an attribute. */
  nameCharacters: 256,
  /** Attributes that one schema names. */
  schemaAttributes: 1000,
  /** Event types that `event_weights` of an algorithm names. */
  eventWeights: 1000,
  /** Shards of one dataset. */
  shards: 10_000,
  /** Queries per second of a deployment. */
  qps: 1_000_000,
  /** Items that one recommendation call answers. */
  recommendedItems: 1000,
  /** Attributes of each item that one recommendation call answers. */
  recommendedAttributes: 50,
  /** Queries of one querying job. */
  queries: 100,
  /** Conditions of one query. */
  conditions: 20,
  /** Histogram bins of a distribution query. */
  bins: 1000,
  /** Characters of an attribute value that a query asks for. */
  valueCharacters: 1000,
  /** Bytes of the body of an upsert, packed and unpacked alike: the most events there can be, and room around them. */
  upsertBytes: 1000 * (20 + 1) * 1024 + 1024 * 1024,
  /** Bytes of any other body, packed and unpacked alike. */
  requestBytes: 1024 * 1024,
  /** Bytes of the body of a recommendation call: the longest id and attribute names, each character escaped. */
  recommendationBytes: 128 * 1024,
  /** Bytes of a request for a token, which anybody may make. */
  tokenRequestBytes: 4096,
  /** Levels of arrays and objects in a body; no record that is small enough can hold more. */
  bodyDepth: 50_000,
  /** Commas and colons in a body, which is about the number of its keys and values. */
  bodyValues: 2_000_000,
  /** Commas and colons in one record, and in all of a body that is outside its records. No record within its bytes has more. */
  recordValues: 32 * 1024,
  /** Requests that may wait on one connection while another one is answered. */
  pipelinedRequests: 32,
  /** Milliseconds after which a connection is closed if its client reads nothing of a response. */
  sendTimeoutMs: 60_000,
} as const;
