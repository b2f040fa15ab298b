import { createAlgorithm } from "./algorithm";
import {
  createEventDataset,
  createItemDataset,
  createUserDataset,
  deleteEventDataset,
  getEventDataset,
  listEventDatasets,
  updateEventDataset,
} from "./dataset";
import { shutdownDeployment } from "./deployment";
import {
  getJob,
  submitClusteringJob,
  submitDeploymentJob,
  submitQueryingJob,
  submitTrainingJob,
} from "./job";
import { deleteModel, getModel, listModels, updateModel } from "./model";
import { createProject } from "./project";
import { recommendItemsToUser } from "./recommendation";
import {
  deleteDatasetEventsBeforeTs,
  deleteDatasetUserEvents,
  upsertDatasetEvents,
  upsertDatasetItems,
  upsertDatasetUsers,
} from "./record";

/** Every operation of the API, by name. */
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
} as const;

/** The name of an operation. */
export type RouteName = keyof typeof routes;

export * from "./algorithm";
export * from "./dataset";
export * from "./error";
export type { Json, JsonMap } from "./field";
export * from "./job";
export { limits } from "./limits";
export * from "./project";
export { explainHeader } from "./recommendation";
export * from "./record";
export type { FullReply, Input, Reply, Request, Route } from "./route";
export { tolerant } from "./tolerant";
export { decode, encode, wireName, wireSchema } from "./wire";
