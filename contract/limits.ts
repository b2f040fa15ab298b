/** The numbers that the specification gives, used by the client, the resources and the service alike. */
export const limits = {
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
} as const;
