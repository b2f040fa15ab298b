import type { Generated, Selectable } from "kysely";
import type { jobStatuses, jobTypes } from "../../contract";
import type { HolderTable, OrphanTable, StableAddressTable } from "./stack-tables";

/** All tables of the database. Created in migrations.ts. */
export interface Tables {
  instance: InstanceTable;
  datasets: DatasetTable;
  shards: ShardTable;
  records: RecordTable;
  events: EventTable;
  projects: ProjectTable;
  algorithms: AlgorithmTable;
  jobs: JobTable;
  models: ModelTable;
  deployments: DeploymentTable;
  forgotten_users: ForgottenUserTable;
  idempotency_keys: IdempotencyTable;
  processes: ProcessTable;
  files: FileTable;
  file_parts: FilePartTable;
  clients: ClientTable;
  console_sessions: ConsoleSessionTable;
  refusals: RefusalTable;
  orphans: OrphanTable;
  holders: HolderTable;
  stable_addresses: StableAddressTable;
  job_users: JobUserTable;
  job_chunks: JobChunkTable;
}

/**
 * Identity and secrets of the data in this database. The id differs from that of earlier data in the same directory.
 */
export interface InstanceTable {
  id: string;
  /** Set only in PostgreSQL. An embedded service stores it in its data directory. */
  signing_secret: Generated<string | null>;
  /** Random key for the hashes of forgotten users. Set when the database is opened. */
  tombstone_key: Generated<string | null>;
}

/** Kinds of datasets. The row of a deleted dataset is kept, so its number is never used again. */
export type DatasetKind = "user" | "item" | "event" | "deleted";

/** A dataset. The tables of records and events reference it by `number`. */
export interface DatasetTable {
  id: string;
  number: number;
  kind: DatasetKind;
  name: string;
  num_shards: number;
  attribute_schema: string | null;
  /**
   * Count of transactions that deleted events or forgot a user; in an embedded database, also of those that replaced
   * events. Shows which deletions a snapshot includes.
   */
  deletions: number;
  created_ts: number;
  /** Count of upserts of records. Only counted in PostgreSQL, where other processes must notice them. */
  changes: Generated<number>;
  /** Last upload of each source, as a JSON array of BASIS/TOKEN texts. Null if there is none. */
  last_uploads: Generated<string | null>;
  /** Tokens of uploads that later ones have replaced, as a JSON array. Null if there is none. */
  replaced_uploads: Generated<string | null>;
}

/** A row of `datasets`. */
export type Dataset = Selectable<DatasetTable>;

/** Number of records in a shard. A shard without a row is empty. */
export interface ShardTable {
  dataset: number;
  shard: number;
  records: number;
}

/** Number of a dataset's records that were rejected on one day for one reason. */
export interface RefusalTable {
  dataset: number;
  /** Days since 1970. */
  day: number;
  reason: string;
  records: number;
  last_ts: number;
  /** The last few rejected records, as JSON. */
  last: string;
}

/** A user or an item. */
export interface RecordTable {
  dataset: number;
  record_id: string;
  attributes: string;
  /** The dataset's count of upserts when the record was written. */
  changed: Generated<number>;
  /** 1 after the user was forgotten, until the record is uploaded again. Trainings ignore such a record. */
  forgotten: Generated<number>;
}

/** An event. `seq` grows with each write, so events that were written after a snapshot can be recognized. */
export interface EventTable {
  seq: number;
  dataset: number;
  event_id: string;
  user_id: string;
  item_id: string;
  ts: number;
  event_type: string;
  event_value: number;
  attributes: string;
}

/** A project over three datasets. */
export interface ProjectTable {
  id: string;
  name: string;
  project_type: string;
  user_dataset_id: string;
  item_dataset_id: string;
  event_dataset_id: string;
  target_event_type: string;
  created_ts: number;
}

/** A configuration to train with. */
export interface AlgorithmTable {
  id: string;
  project_id: string;
  name: string;
  algorithm_type: string;
  algorithm_parameters: string;
}

/** Type of a job. */
export type JobType = (typeof jobTypes)[number];

/** A job. `number` is the order of submission. */
export interface JobTable {
  number: number;
  id: string;
  project_id: string;
  job_type: JobType;
  name: string;
  data: string;
  result: string | null;
  status: (typeof jobStatuses)[number];
  retry_count: number;
  created_ts: number;
  /** End of the job. Null until then. An index of the unfinished jobs serves as the queue. */
  finished_ts: number | null;
  /** Earliest time of the next run after a failure. */
  due_ts: number;
  /** The process that runs the job or ran it last. */
  worker: string | null;
  /** Number of times that the job was taken from the queue. Used to reject the results of earlier attempts. */
  attempt: Generated<number>;
  /** End of the lease. If it is not renewed by then, another process takes over the job. */
  lease_ts: Generated<number>;
  /** Request id of the call that submitted the job. Null for jobs of earlier versions. */
  request_id: string | null;
}

/** A row of `jobs`. */
export type Job = Selectable<JobTable>;

/** A user that a recommendation job is limited to. Deleted when the user is forgotten. */
export interface JobUserTable {
  job_id: string;
  user_id: string;
}

/** A complete part of the result of an unfinished recommendation job. Its content is in a file. */
export interface JobChunkTable {
  job_id: string;
  number: number;
  attempt: number;
  users: number;
  deletions: number;
}

/** A process that uses the database, with its last heartbeat. */
export interface ProcessTable {
  id: string;
  role: string;
  version: string;
  seen_ts: number;
}

/** A client with a secret. Only the hash of the secret is stored. */
export interface ClientTable {
  id: string;
  name: string;
  secret_hash: string;
  /** Scopes separated by spaces. */
  scopes: string;
  created_ts: number;
  /** What web pages may do with the secret, as JSON. Null if the secret is not for web pages. */
  pages: Generated<string | null>;
}

/** An unused link to the console, or a session of the console. Only hashes of their secrets are stored. */
export interface ConsoleSessionTable {
  /** Hash of the link's code, or of the session's cookie. */
  id: string;
  /** Hash of the token that the page sends in a header. Null for a link. */
  token_hash: string | null;
  /** The client that opened the console. Null if the caller used the key of the service. */
  client_id: string | null;
  access: "read" | "write";
  expires_ts: number;
}

/** A trained model. Its content is in a file. */
export interface ModelTable {
  id: string;
  number: number;
  project_id: string;
  name: string;
  algorithm_type: string;
  algorithm_parameters: string;
  created_ts: number;
  /** The dataset's count of deletions when the training read the events. */
  seen_deletions: number;
  /** `seq` of the last event before the training. Null for models of earlier versions. */
  seen_seq: number | null;
  /** Count of deletions up to which forgotten users were removed from the model's file. */
  forgotten_until: Generated<number>;
}

/** A row of `models`. */
export type Model = Selectable<ModelTable>;

/** The live deployment of a project. */
export interface DeploymentTable {
  project_id: string;
  job_id: string;
  generator_model_id: string;
  ranker_model_id: string | null;
  qps: number;
  /** What the deployment may recommend and what it prefers, as JSON. Null if it has no rules. */
  rules: string | null;
}

/** Tombstone of a user who was forgotten in a dataset. Models that were trained earlier ignore the user. */
export interface ForgottenUserTable {
  event_dataset_id: string;
  /** A keyed hash of the id. */
  user_id: string;
  /** The dataset's count of deletions when the user was forgotten. */
  deletions: number;
  /**
   * 2 if `tombstone_key` is part of the hash. Earlier versions wrote 1 for a hash without it, and 0 for the id itself.
   */
  hashed: Generated<number>;
}

/** Response to a call with an idempotency key. */
export interface IdempotencyTable {
  idempotency_key: string;
  /** Hash of the operation and the body, to detect that a key is reused for a different call. */
  fingerprint: string;
  reply: string;
  created_ts: number;
}

/** A model or result that is stored in PostgreSQL. An embedded service stores it in its data directory. */
export interface FileTable {
  name: string;
  /** Id of the upload that the parts of the file belong to. */
  upload: string;
  bytes: number;
  written: Generated<Date>;
}

/** A part of a file. Other parts of the file may still be missing. */
export interface FilePartTable {
  upload: string;
  part: number;
  name: string;
  data: Buffer;
  begun: Generated<Date>;
}
