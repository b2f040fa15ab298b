import { newId } from "../base/id";
import { projectOf } from "../store/find";
import type { Handlers } from "./handler";

/** The one operation on algorithms; the API can neither read, change nor delete them. */
export const algorithmHandlers: Handlers<"createAlgorithm"> = {
  createAlgorithm: (input, call) =>
    call.write(async (db) => {
      await projectOf(db, input.projectId);
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
