import type { AttributeSchema, Attributes } from "../../algorithms";
import { attributeOf, inferSchema } from "../../algorithms";
import { shortened } from "../../base/error";
import type { Context } from "../../handlers/handler";
import type { Db } from "../../store/database";
import { anyDatasetOf } from "../../store/find";
import { refusalsKeptDays, refusalsOf } from "../../store/history/refusals";
import type { Dataset } from "../../store/tables";
import { type DatasetSummary, datasetSummaries, projectChoices } from "../rows";
import { summarizeEvents } from "./events";

const maxSampled = 2000;
const maxValues = 12;
const maxReasons = 20;

/** Returns a dataset with a summary of some of its records. */
export async function datasetResponse({ store, clock }: Pick<Context, "store" | "clock">, id: string) {
  const { db } = store;
  const dataset = await anyDatasetOf(db, id);
  const [short] = (await datasetSummaries(db, [dataset])) as [DatasetSummary];
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
  const events = dataset.kind === "event" ? await summarizeEvents(db, dataset, now) : null;
  return {
    ...short,
    createdTs: dataset.created_ts,
    shards: counts,
    projects: await projectChoices(db, { datasetId: id, limit: 50 }),
    ...(await attributesOf(db, dataset)),
    events,
    refusals: {
      days: refusalsKeptDays,
      reasons: reasons.slice(0, maxReasons),
      otherReasons: Math.max(0, reasons.length - maxReasons),
    },
  };
}

/** Summarizes the attributes of the first records of a dataset. */
export async function attributesOf(db: Db, dataset: Dataset) {
  if (dataset.kind === "event") return { sampled: 0, attributes: [] };
  const rows = await db
    .selectFrom("records")
    .select("attributes")
    .where("dataset", "=", dataset.number)
    .orderBy("record_id")
    .limit(maxSampled)
    .execute();
  const records = rows.map((row) => JSON.parse(row.attributes) as Attributes);
  return { sampled: records.length, attributes: summarizeAttributes(dataset, records) };
}

function summarizeAttributes({ attribute_schema }: Dataset, records: readonly Attributes[]) {
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
      // Dividing first avoids an overflow of the sum. Rounding can still exceed the range, so the mean is clamped
      // below.
      const mean = numbers.reduce((sum, value) => sum + value / numbers.length, 0);
      return {
        name,
        handling,
        isDeclared: declared !== null && name in declared,
        /** Number of sampled records that have the attribute. */
        filled: values.length,
        values: [...counts]
          .sort(([, a], [, b]) => b - a)
          .slice(0, maxValues)
          // `isWhole` is false if the value was shortened.
          .map(([value, count]) => ({ value: shortened(value), count, isWhole: value === shortened(value) })),
        distinct: counts.size,
        range: isRange ? { min, mean: Math.max(min, Math.min(max, mean)), max } : null,
      };
    });
}
