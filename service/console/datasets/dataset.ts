import type { AttributeSchema, Attributes } from "../../algorithms";
import { attributeOf, inferSchema } from "../../algorithms";
import { notFound, shortened } from "../../base/error";
import type { Context } from "../../handlers/handler";
import type { Db } from "../../store/database";
import { refusalsKeptDays, refusalsOf } from "../../store/history/refusals";
import { growthOf } from "../../store/history/sizes";
import type { Dataset } from "../../store/tables";
import type { AttributeAnswer, DatasetAnswer, DatasetShort } from "../answers";
import { datasetsShort, projectChoices } from "../rows";
import { eventsAnswer } from "./events";

const sampled = 2000;
const [shownValues, shownReasons] = [12, 20];

/** A dataset with what is in it, as far as a sample shows. */
export async function datasetAnswer(
  { store, clock }: Pick<Context, "store" | "clock">,
  id: string,
): Promise<DatasetAnswer> {
  const { db } = store;
  const dataset = await existing(db, id);
  const [short] = (await datasetsShort(db, [dataset])) as [DatasetShort];
  const shards = await db
    .selectFrom("shards")
    .selectAll()
    .where("dataset", "=", dataset.number)
    .orderBy("shard")
    .execute();
  const counts = new Array<number>(Math.min(dataset.num_shards, 1000)).fill(0);
  for (const { shard, records } of shards) if (shard < counts.length) counts[shard] = records;
  const now = clock.now();
  const reasons = await refusalsOf(db, dataset, now);
  const events = dataset.kind === "event" ? await eventsAnswer(db, dataset, now) : null;
  return {
    ...short,
    createdTs: dataset.created_ts,
    shards: counts,
    projects: await projectChoices(db, { over: id, limit: 50 }),
    ...(await attributesOf(db, dataset)),
    events,
    growth: await growthOf(db, dataset, { ts: now, records: short.records }, short.capacity),
    refusals: {
      days: refusalsKeptDays,
      reasons: reasons.slice(0, shownReasons),
      otherReasons: Math.max(0, reasons.length - shownReasons),
    },
  };
}

/** The attributes of a dataset's records, as far as a sample shows. */
export async function attributesOf(
  db: Db,
  dataset: Dataset,
): Promise<Pick<DatasetAnswer, "sampled" | "attributes">> {
  if (dataset.kind === "event") return { sampled: 0, attributes: [] };
  const rows = await db
    .selectFrom("records")
    .select("attributes")
    .where("dataset", "=", dataset.number)
    .orderBy("record_id")
    .limit(sampled)
    .execute();
  const records = rows.map((row) => JSON.parse(row.attributes) as Attributes);
  return { sampled: records.length, attributes: attributesIn(dataset, records) };
}

/** A dataset that was not deleted. */
export async function existing(db: Db, id: string): Promise<Dataset> {
  const found = await db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", id)
    .where("kind", "!=", "deleted")
    .executeTakeFirst();
  if (!found) throw notFound("dataset", id, "it may have been deleted");
  return found;
}

function attributesIn({ attribute_schema }: Dataset, records: readonly Attributes[]): AttributeAnswer[] {
  const declared = attribute_schema === null ? null : (JSON.parse(attribute_schema) as AttributeSchema);
  const schema: Readonly<Record<string, string>> = { ...inferSchema(records), ...declared };
  return Object.entries(schema)
    .slice(0, 100)
    .map(([name, handling]) => {
      const values = records.map((record) => attributeOf(record, name)).filter((value) => value != null);
      const counts = new Map<string, number>();
      for (const value of values.flatMap((one) => (Array.isArray(one) ? one : [one]))) {
        const text = typeof value === "object" ? JSON.stringify(value) : String(value);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
      const numbers = values.filter((value): value is number => typeof value === "number");
      const isRange = handling === "NUMERICAL" && numbers.length > 0;
      const [min, max] = [
        numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
        numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
      ];
      // A sum of all might be larger than any number, and even this one by its last digit.
      const mean = numbers.reduce((sum, value) => sum + value / numbers.length, 0);
      return {
        name,
        handling,
        isDeclared: declared !== null && name in declared,
        filled: values.length,
        values: [...counts]
          .sort(([, a], [, b]) => b - a)
          .slice(0, shownValues)
          .map(([value, count]) => ({ value: shortened(value), count, isWhole: value === shortened(value) })),
        distinct: counts.size,
        range: isRange ? { min, mean: Math.max(min, Math.min(max, mean)), max } : null,
      };
    });
}
