import type { FullReply, routes } from "../../contract";
import { ServiceError } from "../base/error";
import { newId } from "../base/id";
import type { Db } from "../store/database";
import { anyDatasetOf, datasetOf, nextNumber } from "../store/find";
import { lastUploads } from "../store/last-uploads";
import { lockUpserts } from "../store/locks";
import { countRecords } from "../store/shards";
import type { Dataset, DatasetKind } from "../store/tables";
import type { Call, Handlers } from "./handler";
import { holdFor } from "./origin";

type Fields = Parameters<Handlers<"createUserDataset">["createUserDataset"]>[0];

/** Operations on datasets. The specification has operations to read, update and delete only for event datasets. */
export const datasetHandlers: Handlers<
  | "createUserDataset"
  | "createItemDataset"
  | "createEventDataset"
  | "updateEventDataset"
  | "getEventDataset"
  | "listEventDatasets"
  | "deleteEventDataset"
  | "getUserDataset"
  | "getItemDataset"
  | "countDatasetRecords"
> = {
  createUserDataset: (input, call) =>
    call.write(async (db) => ({ userDatasetId: await create(db, "user", input, call), ...input })),

  createItemDataset: (input, call) =>
    call.write(async (db) => ({ itemDatasetId: await create(db, "item", input, call), ...input })),

  createEventDataset: (input, call) =>
    call.write(async (db) => {
      await checkPlan(db, input.numShards, call.options.planShards);
      return { eventDatasetId: await create(db, "event", input, call), ...input };
    }),

  updateEventDataset: (input, call) =>
    call.write(async (db) => {
      const dataset = await datasetOf(db, "event", input.eventDatasetId);
      const { name, attributeSchema } = input;
      await db
        .updateTable("datasets")
        .set({ name, attribute_schema: schemaText(attributeSchema) })
        .where("id", "=", dataset.id)
        .execute();
      return { ...answer(dataset), name, attributeSchema };
    }),

  getEventDataset: async ({ eventDatasetId }, { db }) => answer(await datasetOf(db, "event", eventDatasetId)),

  getUserDataset: async ({ userDatasetId }, { db }) => ({
    userDatasetId,
    ...fieldsOf(await datasetOf(db, "user", userDatasetId)),
  }),

  getItemDataset: async ({ itemDatasetId }, { db }) => ({
    itemDatasetId,
    ...fieldsOf(await datasetOf(db, "item", itemDatasetId)),
  }),

  countDatasetRecords: async ({ datasetId }, { db }) => {
    const dataset = await anyDatasetOf(db, datasetId);
    return { datasetId, recordCount: await countRecords(db, dataset), lastUploads: lastUploads(dataset) };
  },

  listEventDatasets: async (_, { db }) => {
    const rows = await db
      .selectFrom("datasets")
      .selectAll()
      .where("kind", "=", "event")
      .orderBy("number")
      .execute();
    return { eventDatasets: rows.map(answer) };
  },

  // Keeps projects that use the dataset, because the API cannot delete projects. Their next training fails with an
  // error.
  deleteEventDataset: async ({ eventDatasetId }, call) => {
    const dataset = await call.write(async (db) => {
      const found = await datasetOf(db, "event", eventDatasetId);
      await markDeleted(db, found);
      return found;
    });
    call.serving.publish({ dataset: dataset.number, cleared: true });
    call.sweep();
    return answer(dataset);
  },
};

/** Marks a dataset as deleted. Waits for running upserts first, so the sweep deletes their records too. */
export async function markDeleted(db: Db, dataset: Dataset): Promise<void> {
  await lockUpserts(db, dataset, "exclusive");
  await db.updateTable("datasets").set({ kind: "deleted" }).where("id", "=", dataset.id).execute();
}

async function create(db: Db, kind: DatasetKind, fields: Fields, call: Call): Promise<string> {
  const id = newId(`${kind}-dataset`);
  await db
    .insertInto("datasets")
    .values({
      id,
      number: await nextNumber(db, "datasets"),
      kind,
      name: fields.name,
      num_shards: fields.numShards,
      attribute_schema: schemaText(fields.attributeSchema),
      deletions: 0,
      created_ts: call.clock.now(),
    })
    .execute();
  if (kind === "user" || kind === "item")
    await holdFor(call, db, kind === "user" ? "USER_DATASET" : "ITEM_DATASET", id);
  return id;
}

/** Checks the shard limit of the plan. The specification gives no number, so the limit is an option of the service. */
async function checkPlan(db: Db, numShards: number, planShards: number): Promise<void> {
  const { used } = await db
    .selectFrom("datasets")
    .select((of) => of.fn.coalesce(of.fn.sum<number>("num_shards"), of.lit(0)).as("used"))
    .where("kind", "=", "event")
    .executeTakeFirstOrThrow();
  if (Number(used) + numShards <= planShards) return;
  throw new ServiceError(
    "PLAN_EXCEEDED",
    `Too many shards over all event datasets: ${planShards} allowed, ${used} in use, ${numShards} more requested. ` +
      "Request fewer, delete an event dataset, or start the service with a larger --plan-shards.",
  );
}

function schemaText(schema: Readonly<Record<string, string>> | null): string | null {
  return schema === null ? null : JSON.stringify(schema);
}

function answer(row: Dataset): FullReply<(typeof routes)["getEventDataset"]> {
  return { eventDatasetId: row.id, ...fieldsOf(row) };
}

function fieldsOf(row: Dataset) {
  return {
    name: row.name,
    numShards: row.num_shards,
    attributeSchema: row.attribute_schema === null ? null : JSON.parse(row.attribute_schema),
  };
}
