import { notFound } from "../base/error";
import { newId } from "../base/id";
import type { Db } from "../store/database";
import type { AlgorithmTable } from "../store/tables";
import type { Handlers } from "./handler";
import { projectOf } from "./project";

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

/** The algorithm of that project and id, or the error that it is not there. */
export async function algorithmOf(db: Db, projectId: string, id: string): Promise<AlgorithmTable> {
  const found = await db
    .selectFrom("algorithms")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  if (!found)
    throw notFound(`algorithm in project ${projectId}`, id, "create it first with /create-algorithm");
  return found;
}
