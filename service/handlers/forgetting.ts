import { removeResultsOfDatasets } from "../files/results";
import { removeForgottenUsers } from "../serving/forgetting";
import { datasetOf } from "../store/find";
import { datasetToForgetIn, forgetInEvents, forgetRecord } from "../store/forget-user";
import { deleteUserEvents } from "../store/sweep";
import type { Call, Handlers } from "./handler";

/** Operations that forget users (see docs/forgetting.md). If a call fails, the client has to repeat it. */
export const forgettingHandlers: Handlers<"deleteDatasetUserEvents" | "deleteDatasetUser"> = {
  deleteDatasetUserEvents: async ({ eventDatasetId, userId }, call) => {
    const dataset = await datasetToForgetIn(call.db, eventDatasetId);
    await deleteUserEvents(call, dataset, userId, (change) => call.serving.publish(change));
    // Forgets the user after the last event is deleted, so a training that still read events counts as older than the
    // deletion.
    await call.write((db) => forgetInEvents(db, dataset, userId));
    await removeFromModels(call, [eventDatasetId], userId);
    return { eventDatasetId, userId };
  },

  deleteDatasetUser: async ({ userDatasetId, userId }, call) => {
    const dataset = await datasetOf(call.db, "user", userDatasetId);
    const eventDatasetIds = await call.write((db) => forgetRecord(db, dataset, userId));
    await removeFromModels(call, eventDatasetIds, userId);
    return { userDatasetId, userId };
  },
};

async function removeFromModels(
  call: Call,
  eventDatasetIds: readonly string[],
  userId: string,
): Promise<void> {
  for (const eventDatasetId of eventDatasetIds) call.serving.publish({ eventDatasetId, forgotten: userId });
  await removeResultsOfDatasets(call, eventDatasetIds);
  await removeForgottenUsers(call);
}
