export { Client } from "../client/client";
export type { G1Parameters, Json, JsonMap } from "../contract";
export { numShardsFor } from "../records/capacity";
export type { Quality } from "./model-quality";
export { Algorithm, type AlgorithmArgs, type AlgorithmType } from "./program/algorithm";
export { Deployment, type DeploymentArgs, type DeploymentCheck } from "./program/deployment";
export { DeploymentJob, type DeploymentJobArgs } from "./program/deployment-job";
export { type AttributeHandling, type DatasetArgs, EventDataset } from "./program/event-dataset";
export {
  type EventMapping,
  type EventRecord,
  EventRecords,
  type EventRecordsArgs,
} from "./program/event-records";
export { ItemDataset } from "./program/item-dataset";
export { type ItemMapping, type ItemRecord, ItemRecords, type ItemRecordsArgs } from "./program/item-records";
export * from "./program/lookups";
export { Model, type ModelArgs } from "./program/model";
export { Project, type ProjectArgs, type ProjectType } from "./program/project";
export { Provider, type ProviderArgs } from "./program/provider";
export { TrainingJob, type TrainingJobArgs } from "./program/training-job";
export {
  ClusteringJob,
  type ClusteringParameters,
  type ClusterType,
  UserClustering,
  type UserClusteringArgs,
} from "./program/user-clustering";
export { UserDataset } from "./program/user-dataset";
export {
  type Query,
  QueryingJob,
  type QueryType,
  type UsageCondition,
  type UserDistributionQuery,
  type UserListQuery,
  UserQuery,
  type UserQueryArgs,
} from "./program/user-query";
export { type UserMapping, type UserRecord, UserRecords, type UserRecordsArgs } from "./program/user-records";
