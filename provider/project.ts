import { z } from "zod";
import { projectFields, routes } from "../contract";
import { id } from "../contract/field";
import { containsUnknown, fieldsOf } from "./lifecycle/arguments";
import { lifecycle } from "./lifecycle/lifecycle";
import { readWithExtension } from "./lifecycle/observation";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";
import { isSecret } from "./run/secrecy";

/** The specification has no call to read, change or delete a project. The service of this package can read it. */
export const project = lifecycle({
  type: "Project",
  args: projectFields.extend({ existingId: id.optional() }),
  outputs: z.object({ projectId: id, servingUri: z.string().optional() }),
  orphanType: "PROJECT",
  ...writeOnce(projectFields, "Its algorithms, models and deployment are created again, which trains again."),
  ...readWithExtension({
    objectType: "project",
    route: routes.getProject,
    fields: projectFields,
    get: (projectId, _args, { client }) => client.call(routes.getProject, { projectId }),
  }),

  async complete(given, { urn, run }) {
    const { targetEventType, eventDatasetId, existingId } = given;
    // The training data of an adopted project is unknown.
    if (existingId === undefined && isText(targetEventType) && isText(eventDatasetId))
      if (!containsUnknown(targetEventType) && !isSecret("targetEventType"))
        run.trainingData.declareProject(urn, { targetEventType, eventDatasetId });
    return given;
  },

  calls: () => ({ create: [routes.createProject] }),

  async create(args, context) {
    const { reply } = await createOnce(context, {
      route: routes.createProject,
      request: fieldsOf(projectFields, args),
      idOf: ({ projectId }) => projectId,
    });
    const { projectId, servingUri } = reply;
    return { id: projectId, projectId, ...(servingUri != null && { servingUri }) };
  },

  async adopt(projectId) {
    return { projectId };
  },
});

function isText(value: unknown): value is string {
  return typeof value === "string";
}
