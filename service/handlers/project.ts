import type { FullReply, routes } from "../../contract";
import { notFound } from "../base/error";
import { newId } from "../base/id";
import type { Db } from "../store/database";
import type { ProjectTable } from "../store/tables";
import { datasetOf } from "./dataset";
import type { Handlers } from "./handler";

/** The one operation on projects; the API can neither read, change nor delete them. */
export const projectHandlers: Handlers<"createProject"> = {
  createProject: (input, call) =>
    call.write(async (db): Promise<FullReply<(typeof routes)["createProject"]>> => {
      await datasetOf(db, "user", input.userDatasetId);
      await datasetOf(db, "item", input.itemDatasetId);
      await datasetOf(db, "event", input.eventDatasetId);
      const projectId = newId("project");
      await db
        .insertInto("projects")
        .values({
          id: projectId,
          name: input.name,
          project_type: input.projectType,
          user_dataset_id: input.userDatasetId,
          item_dataset_id: input.itemDatasetId,
          event_dataset_id: input.eventDatasetId,
          target_event_type: input.targetEventType,
          created_ts: call.clock.now(),
        })
        .execute();
      return { projectId, ...input, servingUri: servingUri(call.url, projectId) };
    }),
};

/** The address under which a project's recommendation call is reached; the specification shows none. */
export function servingUri(url: string, projectId: string): string {
  return `${url}/serving/${projectId}`;
}

/** The project of that id, or the error that it is not there. */
export async function projectOf(db: Db, id: string): Promise<ProjectTable> {
  const found = await db.selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst();
  if (!found) throw notFound("project", id, "create it first with /create-project");
  return found;
}
