export { Client } from "../client/client";
export type { G1Parameters, Json, JsonMap } from "../contract";
export { numShardsFor } from "../records/capacity";
export { Algorithm, type AlgorithmArgs, type AlgorithmType } from "./algorithm";
export { Deployment, type DeploymentArgs, type DeploymentCheck } from "./deployment";
export { DeploymentJob, type DeploymentJobArgs } from "./deployment-job";
export { type AttributeHandling, type DatasetArgs, EventDataset } from "./event-dataset";
export { type EventMapping, type EventRecord, EventRecords, type EventRecordsArgs } from "./event-records";
export { ItemDataset } from "./item-dataset";
export { type ItemMapping, type ItemRecord, ItemRecords, type ItemRecordsArgs } from "./item-records";
export * from "./lookups";
export { Model, type ModelArgs, type Quality } from "./model";
export { Project, type ProjectArgs, type ProjectType } from "./project";
export { TrainingJob, type TrainingJobArgs } from "./training-job";
export { ClusteringJob, UserClustering, type UserClusteringArgs } from "./user-clustering";
export { UserDataset } from "./user-dataset";
export {
  QueryingJob,
  type UsageCondition,
  type UserDistributionQuery,
  type UserListQuery,
  UserQuery,
  type UserQueryArgs,
} from "./user-query";
export { type UserMapping, type UserRecord, UserRecords, type UserRecordsArgs } from "./user-records";
