import { z } from "zod";
import { projectFields, routes } from "../contract";
import { containsUnknown } from "./lifecycle/arguments";
import { writeOnce } from "./lifecycle/write-once";
import { isSecret } from "./run/secrecy";

/** Project, which combines the three datasets that models are trained on. */
export const project = writeOnce({
  type: "Project",
  objectType: "project",
  orphanType: "PROJECT",
  fields: projectFields,
  outputs: { servingUri: z.string().optional() },
  create: routes.createProject,
  get: routes.getProject,
  consequence: "Its algorithms, models and deployment are created again, which trains again.",

  async complete(given, { urn, run }) {
    const { targetEventType, eventDatasetId, existingId } = given;
    const isKnown = typeof targetEventType === "string" && typeof eventDatasetId === "string";
    // The training data of an adopted project is unknown.
    if (existingId === undefined && isKnown)
      if (!containsUnknown(targetEventType) && !isSecret("targetEventType"))
        run.trainingData.declareProject(urn, { targetEventType, eventDatasetId });
    return given;
  },
});
