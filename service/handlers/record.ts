import { z } from "zod";
import {
  itemRecord,
  type JsonMap,
  limits,
  upsertDatasetEvents,
  upsertDatasetItems,
  upsertDatasetUsers,
  userRecord,
} from "../../contract";
import { uploadHeader } from "../../contract/upload";
import { storable } from "../base/validation";
import type { Db } from "../store/database";
import { datasetOf } from "../store/find";
import { countRefusals } from "../store/history/refusals";
import { noteUpload } from "../store/last-uploads";
import { countShards, freeCapacity } from "../store/shards";
import type { Dataset } from "../store/tables";
import type { Call, Handlers } from "./handler";
import { type Failure, outcomeOf, oversize, type Parted, part, withinCeiling } from "./upsert";

const rowsPerInsert = 100;
const unchecked = z.array(z.unknown()).max(limits.recordsPerUpsert);

/** Schema of an upsert without its records, which are checked one by one. */
export const envelopes = {
  upsertDatasetUsers: upsertDatasetUsers.request.extend({ users: unchecked }),
  upsertDatasetItems: upsertDatasetItems.request.extend({ items: unchecked }),
  upsertDatasetEvents: upsertDatasetEvents.request.extend({ events: unchecked }),
};

/** Operations that upsert users and items. */
export const recordHandlers: Handlers<"upsertDatasetUsers" | "upsertDatasetItems"> = {
  upsertDatasetUsers: async ({ userDatasetId, users }, call) => {
    const parted = await part(userRecord, "user_id", users, ({ userId }, raw) => refuse("user", userId, raw));
    return { userDatasetId, ...(await upsert(call, "user", userDatasetId, parted)) };
  },

  upsertDatasetItems: async ({ itemDatasetId, items }, call) => {
    const parted = await part(itemRecord, "item_id", items, ({ itemId }, raw) => refuse("item", itemId, raw));
    return { itemDatasetId, ...(await upsert(call, "item", itemDatasetId, parted)) };
  },
};

function refuse(kind: "user" | "item", id: string, raw: unknown): string | undefined {
  return oversize(kind, raw, limits.recordBytes) ?? unstorable(id);
}

type Records = Parted<{ attributes: JsonMap }>;

async function upsert(call: Call, kind: "user" | "item", datasetId: string, parted: Records) {
  const { fitting, dataset } = await call.store.concurrently(async (db) => {
    const dataset = await datasetOf(db, kind, datasetId);
    const fitting = await write(db, dataset, parted);
    await noteUpload(db, dataset, call.headers[uploadHeader]);
    return { dataset, fitting };
  });
  if (kind === "item") call.serving.publish({ dataset: dataset.number, items: fitting.kept });
  const outcome = outcomeOf(fitting);
  await tellFailures(call, dataset, outcome.failures);
  return outcome;
}

/** Returns why a text cannot be stored, or undefined if it can. */
export function unstorable(...texts: string[]): string | undefined {
  return texts.every(storable) ? undefined : "ids and types must be well-formed Unicode";
}

/** Logs and counts rejected records by reason. Does not log their ids, because many contain a user id. */
export async function tellFailures(
  { store, clock, log, requestId }: Call,
  dataset: Dataset,
  failures: readonly Failure[],
): Promise<void> {
  if (failures.length === 0) return;
  const faults: Record<string, number> = {};
  for (const { reason } of failures) faults[faultOf(reason)] = (faults[faultOf(reason)] ?? 0) + 1;
  log.warn({ requestId, datasetId: dataset.id, failed: failures.length, faults }, "records rejected");
  // The other records are already stored, so the call must not fail now.
  await store
    .concurrently((db) => countRefusals(db, dataset, failures, clock.now()))
    .catch((error) => log.warn({ err: error, requestId }, "rejected records cannot be counted"));
}

/** Reduces a reason to a category for the log. The reason itself may quote the record. */
function faultOf(reason: string): string {
  if (/^the dataset is full/.test(reason)) return "dataset full";
  if (/^the \w+ takes \d+ bytes/.test(reason)) return "too large";
  if (/^ids and types must be/.test(reason)) return "not Unicode";
  return (
    /^(user_id|item_id|event_id|ts|event_type|event_value|attributes)(?=[:.[])/.exec(reason)?.[1] ?? "other"
  );
}

async function write(db: Db, dataset: Dataset, parted: Records): Promise<Records> {
  const ids = [...parted.kept.keys()];
  if (ids.length === 0) return parted;
  const changed = await countChange(db, dataset);
  const found = await db
    .selectFrom("records")
    .select("record_id")
    .where("dataset", "=", dataset.number)
    .where("record_id", "in", ids)
    .execute();
  const existing = new Set(found.map((row) => row.record_id));
  const fitting = withinCeiling(parted, dataset, await freeCapacity(db, dataset), existing);
  const rows = [...fitting.kept].map(([record_id, { attributes }]) => ({
    dataset: dataset.number,
    record_id,
    attributes: JSON.stringify(attributes),
    changed,
  }));
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    await db
      .insertInto("records")
      .values(rows.slice(from, from + rowsPerInsert))
      .onConflict((on) =>
        on.columns(["dataset", "record_id"]).doUpdateSet((of) => ({
          attributes: of.ref("excluded.attributes"),
          changed: of.ref("excluded.changed"),
          forgotten: 0,
        })),
      )
      .execute();
  }
  await countShards(
    db,
    dataset,
    [...fitting.kept.keys()].filter((id) => !existing.has(id)),
    1,
  );
  return fitting;
}

/** Increments the dataset's count of upserts. This locks its row, so upserts commit in the order of their counts. */
async function countChange(db: Db, { number }: Dataset): Promise<number> {
  const { changes } = await db
    .updateTable("datasets")
    .set((of) => ({ changes: of("changes", "+", 1) }))
    .where("number", "=", number)
    .returning("changes")
    .executeTakeFirstOrThrow();
  return changes;
}
