// handlers/ executes the operations of the API, with one file for each kind of object.

import type { RouteName } from "../../contract";
import { algorithmHandlers } from "./algorithm";
import { datasetHandlers } from "./dataset";
import { deploymentHandlers } from "./deployment";
import { eventHandlers } from "./event";
import { forgettingHandlers } from "./forgetting";
import type { Handlers } from "./handler";
import { jobHandlers } from "./job";
import { modelHandlers } from "./model";
import { orphanHandlers } from "./orphan";
import { projectHandlers } from "./project";
import { recommendationHandlers } from "./recommendation";
import { recommendationJobHandlers } from "./recommendation-job";
import { recordHandlers } from "./record";

/** Handlers of all operations. A missing one is a type error. */
export const handlers: Handlers<RouteName> = {
  ...datasetHandlers,
  ...recordHandlers,
  ...eventHandlers,
  ...forgettingHandlers,
  ...projectHandlers,
  ...algorithmHandlers,
  ...jobHandlers,
  ...modelHandlers,
  ...deploymentHandlers,
  ...recommendationHandlers,
  ...recommendationJobHandlers,
  ...orphanHandlers,
};
