import type { AlgorithmTable } from "./algorithm";
import type { DatasetTable, ShardTable } from "./dataset";
import type { DeploymentTable } from "./deployment";
import type { EventTable } from "./event";
import type { ForgottenUserTable } from "./forgotten";
import type { IdempotencyTable } from "./idempotency";
import type { MigrationTable } from "./migrations";
import type { ModelTable } from "./model";
import type { ProjectTable } from "./project";
import type { JobTable } from "./queue";
import type { RecordTable } from "./record";
import type { InstanceTable } from "./store";

/** All tables; the row of each is said where its noun is. */
export interface Tables {
  migrations: MigrationTable;
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
}
