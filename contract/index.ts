import { createAlgorithm, getAlgorithm } from "./algorithm";
import {
  createEventDataset,
  createItemDataset,
  createUserDataset,
  deleteEventDataset,
  getEventDataset,
  getItemDataset,
  getUserDataset,
  listEventDatasets,
  updateEventDataset,
} from "./dataset";
import { getDeployment, shutdownDeployment } from "./deployment";
import {
  getJob,
  submitClusteringJob,
  submitDeploymentJob,
  submitQueryingJob,
  submitTrainingJob,
} from "./job";
import { countModelEvents, deleteModel, getModel, listModels, updateModel } from "./model";
import { deleteOrphan, listOrphans, markOrphaned } from "./orphan";
import { createProject, getProject, listRecentUsers } from "./project";
import { recommendItemsToItem, recommendItemsToUser } from "./recommendation";
import { submitRecommendationJob } from "./recommendation-job";
import {
  countDatasetRecords,
  deleteDatasetEventsBeforeTs,
  deleteDatasetUser,
  deleteDatasetUserEvents,
  upsertDatasetEvents,
  upsertDatasetItems,
  upsertDatasetUsers,
} from "./record";

import type { Route } from "./route";
import { wireName } from "./wire";

/** All operations of the API by name. */
export const routes = {
  createUserDataset,
  createItemDataset,
  createEventDataset,
  updateEventDataset,
  getEventDataset,
  listEventDatasets,
  deleteEventDataset,
  upsertDatasetUsers,
  upsertDatasetItems,
  upsertDatasetEvents,
  deleteDatasetUserEvents,
  deleteDatasetEventsBeforeTs,
  deleteDatasetUser,
  createProject,
  createAlgorithm,
  submitTrainingJob,
  submitDeploymentJob,
  submitQueryingJob,
  submitClusteringJob,
  getJob,
  updateModel,
  getModel,
  listModels,
  deleteModel,
  shutdownDeployment,
  recommendItemsToUser,
  getUserDataset,
  getItemDataset,
  getProject,
  getAlgorithm,
  getDeployment,
  countDatasetRecords,
  countModelEvents,
  listRecentUsers,
  markOrphaned,
  listOrphans,
  deleteOrphan,
  recommendItemsToItem,
  submitRecommendationJob,
} as const;

/** Operations that are not in the specification. */
export const extensions: readonly Route[] = Object.values(routes).filter((route: Route) => route.extension);

/** Returns the name under which a service lists an operation, or a field of its request, as an extension. */
export function extensionName({ path }: Route, field?: string): string {
  return field === undefined ? path : `${path}#${wireName(field)}`;
}

/** Request fields that are not in the specification, as a service lists them. */
export const extensionFields: readonly string[] = Object.values(routes).flatMap((route: Route) =>
  (route.extensionFields ?? []).map((field) => extensionName(route, field)),
);

/** Name of an operation. */
export type RouteName = keyof typeof routes;

export * from "./algorithm";
export * from "./dataset";
export * from "./error";
export type { Json, JsonMap } from "./field";
export * from "./job";
export { limits } from "./limits";
export { type OrphanType, orphanTypes } from "./orphan";
export * from "./project";
export { explainHeader } from "./recommendation";
export * from "./recommendation-job";
export * from "./record";
export type { FullReply, Input, Reply, Request, Route } from "./route";
export { type AppliedRule, expressionsIn, type Rules } from "./rules";
export { tolerant } from "./tolerant";
export { decode, encode, wireName, wireSchema } from "./wire";
