import { z } from "zod";
import { itemRecord, type JsonMap, limits, userRecord } from "../../contract";
import { shortened } from "../base/error";
import { storable } from "../base/validation";
import type { Db } from "../store/database";
import { datasetOf } from "../store/find";
import { countShards, freePlaces } from "../store/shards";
import type { DatasetTable } from "../store/tables";
import type { Call, Handlers } from "./handler";
import { type Failure, failOverCeiling, outcomeOf, oversize, type Parted, part } from "./upsert";

const rowsPerInsert = 100;
const unchecked = z.array(z.unknown()).max(limits.recordsPerUpsert);

/** What the upsert calls take as a whole; their records are checked one by one. */
export const envelopes = {
  upsertDatasetUsers: z.strictObject({ userDatasetId: z.string().min(1), users: unchecked }),
  upsertDatasetItems: z.strictObject({ itemDatasetId: z.string().min(1), items: unchecked }),
  upsertDatasetEvents: z.strictObject({ eventDatasetId: z.string().min(1), events: unchecked }),
};

/** The operations that take users and items. */
export const recordHandlers: Handlers<"upsertDatasetUsers" | "upsertDatasetItems"> = {
  upsertDatasetUsers: async ({ userDatasetId, users }, call) => {
    const parted = part(
      userRecord,
      "user_id",
      users,
      ({ userId }, raw) => oversize("user", raw, limits.recordBytes) ?? unstorable(userId),
    );
    const outcome = await call.write(async (db) => {
      const dataset = await datasetOf(db, "user", userDatasetId);
      await upsert(db, dataset, parted);
      return { userDatasetId, ...outcomeOf(parted) };
    });
    logFailures(call, userDatasetId, outcome.failures);
    return outcome;
  },

  upsertDatasetItems: async ({ itemDatasetId, items }, call) => {
    const parted = part(
      itemRecord,
      "item_id",
      items,
      ({ itemId }, raw) => oversize("item", raw, limits.recordBytes) ?? unstorable(itemId),
    );
    let number = 0;
    const outcome = await call.write(async (db) => {
      const dataset = await datasetOf(db, "item", itemDatasetId);
      number = dataset.number;
      await upsert(db, dataset, parted);
      return { itemDatasetId, ...outcomeOf(parted) };
    });
    call.serving.tell({ dataset: number, items: parted.kept });
    logFailures(call, itemDatasetId, outcome.failures);
    return outcome;
  },
};

/** Why a text cannot be kept, where it cannot. */
export function unstorable(...texts: string[]): string | undefined {
  return texts.every(storable) ? undefined : "ids and types must be well-formed Unicode";
}

/** The reasons go to the log too, a few of each call, for they may be as many as its records. */
export function logFailures(call: Call, datasetId: string, failures: readonly Failure[]): void {
  if (failures.length === 0) return;
  const some = failures.slice(0, 5).map(({ id, ...of }) => ({ id: id && shortened(id, 100), ...of }));
  call.log.warn(
    { requestId: call.requestId, datasetId, failed: failures.length, failures: some },
    "records refused",
  );
}

async function upsert(db: Db, dataset: DatasetTable, parted: Parted<{ attributes: JsonMap }>): Promise<void> {
  const ids = [...parted.kept.keys()];
  if (ids.length === 0) return;
  const found = await db
    .selectFrom("records")
    .select("record_id")
    .where("dataset", "=", dataset.number)
    .where("record_id", "in", ids)
    .execute();
  const existing = new Set(found.map((row) => row.record_id));
  failOverCeiling(parted, dataset, await freePlaces(db, dataset), existing);
  if (parted.kept.size === 0) return;
  const rows = [...parted.kept].map(([record_id, { attributes }]) => ({
    dataset: dataset.number,
    record_id,
    attributes: JSON.stringify(attributes),
  }));
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    await db
      .insertInto("records")
      .values(rows.slice(from, from + rowsPerInsert))
      .onConflict((on) =>
        on
          .columns(["dataset", "record_id"])
          .doUpdateSet((of) => ({ attributes: of.ref("excluded.attributes") })),
      )
      .execute();
  }
  await countShards(
    db,
    dataset,
    [...parted.kept.keys()].filter((id) => !existing.has(id)),
    1,
  );
}
