/** Limits and defaults of the API, shared by the client, the resources and the service. */
export const limits = {
  // Defined by the specification.

  /** Maximum number of records per upsert call, and the recommended batch size. */
  recordsPerUpsert: 1000,
  /** Maximum bytes of an event record as JSON. The specification says "20 kb", interpreted as 20 × 1024. */
  eventBytes: 20 * 1024,
  /** Maximum number of records per shard. */
  recordsPerShard: 100_000,
  /** Number of shards that the quick start recommends. */
  quickStartShards: 10,
  /** Default number of histogram bins of a distribution query. */
  defaultBins: 20,
  /** Default queries per second of a deployment. */
  defaultQps: 1,
  /** Maximum number of automatic retries of a job. */
  jobRetries: 3,

  // Defined by the service in this package. They apply only to requests, so data that is already stored stays readable.
  // `tolerant` schemas do not check these limits, because other services may have other limits.

  /** Maximum bytes of a user or item record as JSON. */
  recordBytes: 64 * 1024,
  /** Maximum nesting of arrays and objects in the attributes of a record. */
  attributeDepth: 32,
  /** Maximum characters of an id. */
  idCharacters: 256,
  /** Maximum bytes of an event id. An id built from the longest user and item ids fits. */
  eventIdBytes: 2048,
  /** Maximum absolute value of an event. Sums of such values stay within the range of 32-bit floats. */
  eventValue: 1e12,
  /** Latest time of an event in milliseconds: the maximum of a JavaScript date. */
  eventTs: 8.64e15,
  /** Maximum characters of a name, an event type or an attribute name. */
  nameCharacters: 256,
  /** Maximum number of attributes in a schema. */
  schemaAttributes: 1000,
  /** Maximum number of event types in `event_weights`. */
  eventWeights: 1000,
  /** Maximum number of shards of a dataset. */
  shards: 10_000,
  /** Maximum queries per second of a deployment. */
  qps: 1_000_000,
  /** Maximum number of items in a recommendation. */
  recommendedItems: 1000,
  /** Maximum number of attributes per recommended item. */
  recommendedAttributes: 50,
  /** Maximum number of items that a recommendation call excludes or includes. */
  listedItems: 1000,
  /** Maximum number of users in the list of a recommendation job. */
  batchUsers: 10_000,
  /** Maximum number of items to find similar items for. */
  similarTo: 100,
  /** Maximum number of events of the current visit in a recommendation call. */
  visitEvents: 200,
  /** Maximum characters of a filter. */
  filterCharacters: 10_000,
  /** Maximum number of rules of each kind in a deployment. */
  rules: 50,
  /** Maximum factor of a boost. A bury has at least its inverse. */
  boostFactor: 1000,
  /** Maximum number of queries in a querying job. */
  queries: 100,
  /** Maximum number of conditions in a query. */
  conditions: 20,
  /** Maximum number of histogram bins of a distribution query. */
  bins: 1000,
  /** Maximum characters of an attribute value in a query. */
  valueCharacters: 1000,
  /** Maximum bytes of an upsert body, compressed or not: 1,000 events of the maximum size, plus overhead. */
  upsertBytes: 1000 * (20 + 1) * 1024 + 1024 * 1024,
  /** Maximum bytes of any other body, compressed or not. */
  requestBytes: 1024 * 1024,
  /** Maximum bytes of the body of a recommendation call. Full lists of the longest ids fit, unless most characters are not ASCII. */
  recommendationBytes: 768 * 1024,
  /** Maximum bytes of the body of a call with a public key. Everybody can send such calls. */
  pageBytes: 64 * 1024,
  /** Maximum bytes of the body of a recommendation job. A full list of users with the longest ids fits. */
  recommendationJobBytes: 4 * 1024 * 1024,
  /** Maximum bytes of a token request. Small, because callers are not authenticated yet. */
  tokenRequestBytes: 4096,
  /** Maximum nesting of arrays and objects in a body. A record within its size limit cannot have more. */
  bodyDepth: 50_000,
  /** Maximum number of commas and colons in a body, which is about the number of its keys and values. */
  bodyValues: 2_000_000,
  /**
   * Maximum number of commas and colons in a record, and in the rest of the body. Records within their size limit have
   * fewer.
   */
  recordValues: 32 * 1024,
  /** Maximum number of pipelined requests that wait on a connection. */
  pipelinedRequests: 32,
  /** Time after which a connection is closed if the client does not read the response. */
  sendTimeoutMs: 60_000,
} as const;
