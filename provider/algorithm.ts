import { algorithmFields, routes } from "../contract";
import { writeOnce } from "./lifecycle/write-once";

/** Algorithm that a project's models are trained with. */
export const algorithm = writeOnce({
  type: "Algorithm",
  objectType: "algorithm",
  orphanType: "ALGORITHM",
  fields: algorithmFields,
  create: routes.createAlgorithm,
  get: routes.getAlgorithm,
  consequence: "Its models are trained again.",
});
