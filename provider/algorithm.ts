import { z } from "zod";
import { algorithmFields, routes } from "../contract";
import { id } from "../contract/field";
import { lifecycle } from "./lifecycle/lifecycle";
import { readWithExtension } from "./lifecycle/observation";
import { writeOnce } from "./lifecycle/write-once";
import { createOnce } from "./recovery/create-once";

/** The specification has no call to read, change or delete an algorithm. The service of this package can read it. */
export const algorithm = lifecycle({
  type: "Algorithm",
  args: algorithmFields.extend({ existingId: id.optional() }),
  outputs: z.object({ algorithmId: id }),
  orphanType: "ALGORITHM",
  ...writeOnce(algorithmFields, "Its models are trained again."),
  ...readWithExtension({
    objectType: "algorithm",
    route: routes.getAlgorithm,
    fields: algorithmFields,
    get: (algorithmId, { projectId }, { client }) =>
      client.call(routes.getAlgorithm, { projectId, algorithmId }),
  }),

  calls: () => ({ create: [routes.createAlgorithm] }),

  async create({ projectId, name, algorithmType, algorithmParameters }, context) {
    const { reply } = await createOnce(context, {
      route: routes.createAlgorithm,
      request: { projectId, name, algorithmType, algorithmParameters },
      idOf: ({ algorithmId }) => algorithmId,
    });
    return { id: reply.algorithmId, algorithmId: reply.algorithmId };
  },

  async adopt(algorithmId) {
    return { algorithmId };
  },
});
