// handlers/ carries out the operations of the API: one noun, one file.

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
import { recordHandlers } from "./record";

/** The handlers of all operations; an operation of the contract without one does not compile. */
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
  ...orphanHandlers,
};
