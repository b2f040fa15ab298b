import { sql } from "kysely";
import { dataDirectoryAt } from "../../service";
import { connect } from "../../service/store/database";
import { hostile, type Shop } from "./page";

/** An id with characters that are special in every language of the code samples. */
export const odd = `--it's "$(id)" \`x\` \${y} \\ \u202E<b>\u2028`;

/** Adds a project with hostile and long names and ids, and many records. */
export async function addHostile({ caller, service }: Shop) {
  const name = hostile.slice(0, 256);
  const { userDatasetId } = await caller.call("createUserDataset", { name, numShards: 1 });
  const { itemDatasetId } = await caller.call("createItemDataset", { name, numShards: 1 });
  const { eventDatasetId } = await caller.call("createEventDataset", { name, numShards: 1 });
  await caller.call("upsertDatasetUsers", {
    userDatasetId,
    users: [{ userId: odd, attributes: { [name]: name, long: "y".repeat(10_000) } }],
  });
  await caller.call("upsertDatasetItems", {
    itemDatasetId,
    items: [{ itemId: name, attributes: { title: "z".repeat(10_000) } }],
  });
  const more = Array.from({ length: 120 }, (_, at) => ({
    userId: `u${at}`,
    attributes: { city: "Oslo", far: Number.MAX_VALUE },
  }));
  const large = (userId: string) => ({ userId, attributes: { long: "y".repeat(100_000) } });
  await caller.call("upsertDatasetUsers", {
    userDatasetId,
    users: [...more, ...[name, "large"].map(large), { [odd]: 1 } as never],
  });
  await caller.raw("/upsert-dataset-users", {
    method: "POST",
    headers: { ...(await caller.headers("/upsert-dataset-users")), "content-type": "application/json" },
    body: JSON.stringify({
      user_dataset_id: userDatasetId,
      users: Array.from({ length: 25 }, (_, at) => ({ user_id: `u${at}`, [`field${at}`]: at })),
    }),
  });
  const event = { eventId: "e", userId: odd, itemId: name, ts: 1, eventType: name };
  await caller.call("upsertDatasetEvents", { eventDatasetId, events: [event, { ...event, eventId: "far" }] });
  // An earlier version accepted timestamps that are not valid dates.
  const db = connect(dataDirectoryAt(service.dataDir).database, { writes: true });
  await sql`update events set ts = ${Number.MAX_SAFE_INTEGER} where event_id = 'far'`.execute(db);
  await db.destroy();
  const datasets = { userDatasetId, itemDatasetId, eventDatasetId };
  const { projectId } = await caller.call("createProject", { name, ...datasets, targetEventType: name });
  await caller.call("createAlgorithm", { projectId, name, algorithmParameters: {} });
  await caller.call("createAlgorithm", { projectId, name, algorithmParameters: { alpha: 2 } });
  for (let at = 0; at < 20; at++)
    await caller.call("createAlgorithm", { projectId, name: "a", algorithmParameters: {} });
  return { ...datasets, projectId };
}
