import type { FullReply, routes } from "../../contract";
import { newId } from "../base/id";
import { datasetOf, findDataset, projectOf } from "../store/find";
import { recentUsers } from "../store/newest-events";
import type { Handlers } from "./handler";
import { holdFor } from "./origin";

/** Maximum number of users that `/list-recent-users` returns. */
const maxRecentUsers = 100;

/** Operations on projects. The specification only has an operation to create them. */
export const projectHandlers: Handlers<"createProject" | "getProject" | "listRecentUsers"> = {
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
      await holdFor(call, db, "PROJECT", projectId);
      return { projectId, ...input, servingUri: call.addresses.servingUri(projectId) };
    }),

  getProject: async ({ projectId }, { db, addresses }) => {
    const row = await projectOf(db, projectId);
    return {
      projectId,
      name: row.name,
      projectType: row.project_type,
      userDatasetId: row.user_dataset_id,
      itemDatasetId: row.item_dataset_id,
      eventDatasetId: row.event_dataset_id,
      targetEventType: row.target_event_type,
      servingUri: addresses.servingUri(projectId),
    };
  },

  listRecentUsers: async ({ projectId }, { db }) => {
    const { event_dataset_id: datasetId } = await projectOf(db, projectId);
    const dataset = await findDataset(db, "event", datasetId);
    return { projectId, userIds: dataset ? await recentUsers(db, dataset, maxRecentUsers) : [] };
  },
};
