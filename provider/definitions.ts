import { algorithm } from "./algorithm";
import { deployment } from "./deployment";
import { deploymentJob } from "./deployment-job";
import { eventDataset } from "./event-dataset";
import { eventRecords } from "./event-records";
import { itemDataset } from "./item-dataset";
import { itemRecords } from "./item-records";
import type { Lifecycle } from "./lifecycle/protocol";
import { model } from "./model";
import { project } from "./project";
import { trainingJob } from "./training-job";
import { clusteringJob, userClustering } from "./user-clustering";
import { userDataset } from "./user-dataset";
import { queryingJob, userQuery } from "./user-query";
import { recommendationJob, userRecommendations } from "./user-recommendations";
import { userRecords } from "./user-records";

const all: readonly Lifecycle[] = [
  algorithm,
  deployment,
  deploymentJob,
  eventDataset,
  eventRecords,
  itemDataset,
  itemRecords,
  model,
  project,
  trainingJob,
  clusteringJob,
  userClustering,
  userDataset,
  queryingJob,
  userQuery,
  recommendationJob,
  userRecommendations,
  userRecords,
];

/** All resource definitions, by type. */
export const definitions: Readonly<Record<string, Lifecycle>> = Object.fromEntries(
  all.map((definition) => [definition.type, definition]),
);
