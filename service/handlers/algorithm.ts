import { ServiceError } from "../base/error";
import { newId } from "../base/id";
import { algorithmOf, projectOf } from "../store/find";
import type { Handlers } from "./handler";
import { holdFor } from "./origin";

/** Operations on algorithms. The specification only has an operation to create them. */
export const algorithmHandlers: Handlers<"createAlgorithm" | "getAlgorithm"> = {
  createAlgorithm: (input, call) =>
    call.write(async (db) => {
      const { target_event_type: target } = await projectOf(db, input.projectId);
      const { event_weights: weights } = input.algorithmParameters;
      if (weights && Object.hasOwn(weights, target))
        throw new ServiceError("BAD_REQUEST", "The request is invalid. See `details`.", {
          details: [
            {
              path: `algorithm_parameters.event_weights.${target}`,
              message: "is the project's target event, which weighs 1; leave it out",
            },
          ],
        });
      const algorithmId = newId("algorithm");
      await db
        .insertInto("algorithms")
        .values({
          id: algorithmId,
          project_id: input.projectId,
          name: input.name,
          algorithm_type: input.algorithmType,
          algorithm_parameters: JSON.stringify(input.algorithmParameters),
        })
        .execute();
      await holdFor(call, db, "ALGORITHM", algorithmId);
      return { algorithmId, ...input };
    }),

  getAlgorithm: async ({ projectId, algorithmId }, { db }) => {
    const row = await algorithmOf(db, projectId, algorithmId);
    return {
      projectId,
      algorithmId,
      name: row.name,
      algorithmType: row.algorithm_type,
      algorithmParameters: JSON.parse(row.algorithm_parameters),
    };
  },
};
