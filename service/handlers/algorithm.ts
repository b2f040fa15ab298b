import { ServiceError } from "../base/error";
import { newId } from "../base/id";
import { projectOf } from "../store/find";
import type { Handlers } from "./handler";

/** The one operation on algorithms; the API can neither read, change nor delete them. */
export const algorithmHandlers: Handlers<"createAlgorithm"> = {
  createAlgorithm: (input, call) =>
    call.write(async (db) => {
      const { target_event_type: target } = await projectOf(db, input.projectId);
      const { event_weights: weights } = input.algorithmParameters;
      if (weights && Object.hasOwn(weights, target))
        throw new ServiceError("BAD_REQUEST", "The request does not fit the operation; see details.", {
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
      return { algorithmId, ...input };
    }),
};
