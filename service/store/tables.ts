import type { AlgorithmTable } from "../handlers/algorithm";
import type { DatasetTable, ShardTable } from "../handlers/dataset";
import type { DeploymentTable } from "../handlers/deployment";
import type { EventTable } from "../handlers/event";
import type { ModelTable } from "../handlers/model";
import type { ProjectTable } from "../handlers/project";
import type { RecordTable } from "../handlers/record";
import type { IdempotencyTable } from "../http/idempotency";
import type { InstanceTable } from "./database";
import type { ForgottenUserTable } from "./forgotten";
import type { MigrationTable } from "./migrations";
import type { JobTable } from "./queue";

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
