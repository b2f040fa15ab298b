import type { Generated, Selectable } from "kysely";
import type { jobStatuses, jobTypes, OrphanType } from "../../contract";

/** All tables of the database; the steps in migrations.ts make them. */
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
  dataset_sizes: DatasetSizeTable;
  orphans: OrphanTable;
  holders: HolderTable;
  stable_addresses: StableAddressTable;
}

/** Tells the data of this database from all others, also from what the same folder held before. */
export interface InstanceTable {
  id: string;
  /** Only in a database that several processes share; a single one has it in its folder. */
  signing_secret: Generated<string | null>;
  /** Random; makes the hashes of forgotten users useless without the database. Set when the database is opened. */
  tombstone_key: Generated<string | null>;
}

/** The kinds of dataset; a deleted one stays, so that its number is not given again. */
export type DatasetKind = "user" | "item" | "event" | "deleted";

/** A dataset; `number` stands for it in the tables of records and events. */
export interface DatasetTable {
  id: string;
  number: number;
  kind: DatasetKind;
  name: string;
  num_shards: number;
  attribute_schema: string | null;
  /** How often events were deleted or replaced; shows what a snapshot has seen. */
  deletions: number;
  created_ts: number;
  /** How many upserts of records there were, where several processes must notice them. */
  changes: Generated<number>;
}

/** A dataset as it is read. */
export type Dataset = Selectable<DatasetTable>;

/** How many records each shard holds; a shard without a row is empty. */
export interface ShardTable {
  dataset: number;
  shard: number;
  records: number;
}

/** How many records of a dataset were refused on a day for a reason. */
export interface RefusalTable {
  dataset: number;
  /** Since 1970. */
  day: number;
  reason: string;
  records: number;
  last_ts: number;
  /** The last few, as JSON. */
  last: string;
}

/** How many records a dataset had, noted once a day. */
export interface DatasetSizeTable {
  dataset: number;
  day: number;
  ts: number;
  records: number;
}

/** A user or an item. */
export interface RecordTable {
  dataset: number;
  record_id: string;
  attributes: string;
  /** The count of the dataset's changes when it was written. */
  changed: Generated<number>;
  /** 1 after the user was forgotten, until the record is uploaded again: nothing is learned from it. */
  forgotten: Generated<number>;
}

/** An event; `seq` grows with each write, so that what came after a snapshot is known. */
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

/** A kind of job. */
export type JobType = (typeof jobTypes)[number];

/** A job, from its submission on; `number` gives the order of submission. */
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
  /** Null until it has ended; an index of those jobs makes the queue. */
  finished_ts: number | null;
  /** Not to be run before, after a failure. */
  due_ts: number;
  /** The process that runs it or ran it last. */
  worker: string | null;
  /** How often it was taken from the queue: what an earlier taking brings does not count any more. */
  attempt: Generated<number>;
  /** End of the lease. Without a heartbeat until then, another process takes over the job. */
  lease_ts: Generated<number>;
  /** Of the call that submitted it; none where an earlier version took that call. */
  request_id: string | null;
}

/** A job as it is read. */
export type Job = Selectable<JobTable>;

/** A process that uses the database, with its last heartbeat. */
export interface ProcessTable {
  id: string;
  role: string;
  version: string;
  seen_ts: number;
}

/** A client with a secret of its own, of which only the hash is kept. */
export interface ClientTable {
  id: string;
  name: string;
  secret_hash: string;
  /** Paths, a space between two. */
  scopes: string;
  created_ts: number;
}

/** A link into the console that nobody has used yet, or a session of the console; only hashes of their secrets are kept. */
export interface ConsoleSessionTable {
  /** The hash of the link's code, or of the session's cookie. */
  id: string;
  /** The hash of the second half, which the page sends in a header; null for a link. */
  token_hash: string | null;
  /** Null for holders of the key. */
  client_id: string | null;
  access: "read" | "write";
  expires_ts: number;
}

/** A trained model; its numbers lie in a file of its own. */
export interface ModelTable {
  id: string;
  number: number;
  project_id: string;
  name: string;
  algorithm_type: string;
  algorithm_parameters: string;
  created_ts: number;
  /** How many deletions of events its training had seen. */
  seen_deletions: number;
  /** The last event before its training; null where an earlier version trained it. */
  seen_seq: number | null;
  /** The count of deletions up to which forgotten users were removed from its file. */
  forgotten_until: Generated<number>;
}

/** A model as it is read. */
export type Model = Selectable<ModelTable>;

/** An object that a replacement left behind: no program holds it, and the specification has no call to delete it. */
export interface OrphanTable {
  object_type: OrphanType;
  object_id: string;
  orphaned_ts: number;
  /** The resource that left it behind, as JSON; null if the caller did not say. */
  origin: string | null;
}

/** A stack that created or adopted an object which the specification cannot delete, and has not left it yet. */
export interface HolderTable {
  object_type: OrphanType;
  object_id: string;
  /** PROJECT/STACK, each part percent-encoded; empty if the program is unknown. */
  holder: string;
}

/** The project that the stable address of a stack's deployment leads to. */
export interface StableAddressTable {
  /** PROJECT/STACK/RESOURCE of the deployment, each part percent-encoded. */
  address: string;
  project_id: string;
  /** Of the deployment job that set it; an older job does not set it back. */
  job_number: number;
}

/** The models that serve a project. */
export interface DeploymentTable {
  project_id: string;
  job_id: string;
  generator_model_id: string;
  ranker_model_id: string | null;
  qps: number;
}

/** The tombstone of a user who was forgotten in a dataset: models trained before do not know the user any more. */
export interface ForgottenUserTable {
  event_dataset_id: string;
  /** A keyed hash of the id. */
  user_id: string;
  /** The dataset's count of deletions when the user was forgotten. */
  deletions: number;
  /** 2 if `tombstone_key` is part of the hash. Earlier versions wrote 1 for a hash without it, and 0 for the id itself. */
  hashed: Generated<number>;
}

/** The answer to a call that carried an idempotency key. */
export interface IdempotencyTable {
  idempotency_key: string;
  /** Of the operation and the body, so that a key used for something else is noticed. */
  fingerprint: string;
  reply: string;
  created_ts: number;
}

/** A model or a result that lies in the database; only in PostgreSQL, beside a folder it is a file. */
export interface FileTable {
  name: string;
  /** Under which its parts lie. */
  upload: string;
  bytes: number;
  written: Generated<Date>;
}

/** A part of a file; of one that is still being written, too. */
export interface FilePartTable {
  upload: string;
  part: number;
  name: string;
  data: Buffer;
  begun: Generated<Date>;
}
