import type { AttributeSchema, Attributes } from "../algorithms";
import { attributeOf, inferSchema } from "../algorithms";
import { notFound } from "../base/error";
import type { Context } from "../handlers/handler";
import type { Db } from "../store/database";
import type { Dataset } from "../store/tables";
import type {
  AttributeAnswer,
  DatasetAnswer,
  Page,
  ProjectChoice,
  RecordAnswer,
  Suggestion,
} from "./answers";
import { eventsAnswer, eventsOf } from "./events";
import { datasetsShort } from "./rows";

const sampled = 2000;
const shownValues = 12;
const recordsPerPage = 50;

/** A dataset with what is in it, as far as a sample shows. */
export async function datasetAnswer({ store: { db } }: Context, id: string): Promise<DatasetAnswer> {
  const dataset = await existing(db, id);
  const [short] = await datasetsShort(db, [dataset]);
  const shards = await db
    .selectFrom("shards")
    .selectAll()
    .where("dataset", "=", dataset.number)
    .orderBy("shard")
    .execute();
  const counts = new Array<number>(Math.min(dataset.num_shards, 1000)).fill(0);
  for (const { shard, records } of shards) if (shard < counts.length) counts[shard] = records;
  const events = dataset.kind === "event" ? await eventsAnswer(db, dataset) : null;
  return {
    ...(short as NonNullable<typeof short>),
    createdTs: dataset.created_ts,
    shards: counts,
    projects: await projectsOver(db, dataset),
    ...(await attributesOf(db, dataset)),
    events,
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

async function existing(db: Db, id: string): Promise<Dataset> {
  const found = await db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", id)
    .where("kind", "!=", "deleted")
    .executeTakeFirst();
  if (!found) throw notFound("dataset", id, "it may have been deleted");
  return found;
}

async function projectsOver(db: Db, { id }: Dataset): Promise<ProjectChoice[]> {
  const rows = await db
    .selectFrom("projects")
    .leftJoin("deployments", "deployments.project_id", "projects.id")
    .select(["projects.id", "projects.name", "deployments.job_id"])
    .where((of) =>
      of.or([
        of("user_dataset_id", "=", id),
        of("item_dataset_id", "=", id),
        of("event_dataset_id", "=", id),
      ]),
    )
    .limit(50)
    .execute();
  return rows.map((row) => ({ id: row.id, name: row.name, isDeployed: row.job_id !== null }));
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
        const text = (typeof value === "object" ? JSON.stringify(value) : String(value)).slice(0, 200);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
      const numbers = values.filter((value): value is number => typeof value === "number");
      const isRange = handling === "NUMERICAL" && numbers.length > 0;
      return {
        name,
        handling,
        isDeclared: declared !== null && name in declared,
        filled: values.length,
        values: [...counts]
          .sort(([, a], [, b]) => b - a)
          .slice(0, shownValues)
          .map(([value, count]) => ({ value, count })),
        distinct: counts.size,
        range: isRange
          ? {
              min: numbers.reduce((a, b) => Math.min(a, b)),
              mean: numbers.reduce((sum, value) => sum + value, 0) / numbers.length,
              max: numbers.reduce((a, b) => Math.max(a, b)),
            }
          : null,
      };
    });
}

/** The records of a dataset in the order of their ids, from a text on. */
export async function recordsFrom(
  { store: { db } }: Context,
  id: string,
  from: string,
): Promise<Page<Suggestion>> {
  const dataset = await existing(db, id);
  const rows = await db
    .selectFrom("records")
    .select(["record_id", "attributes"])
    .where("dataset", "=", dataset.number)
    .where("record_id", ">=", from)
    .orderBy("record_id")
    .limit(recordsPerPage + 1)
    .execute();
  return {
    rows: rows
      .slice(0, recordsPerPage)
      .map((row) => ({ id: row.record_id, attributes: JSON.parse(row.attributes) })),
    next: rows[recordsPerPage]?.record_id ?? null,
  };
}

/** A user or an item with its newest events; also one that only events know. */
export async function recordAnswer(
  { store: { db } }: Context,
  datasetId: string,
  kind: "user" | "item",
  id: string,
): Promise<RecordAnswer> {
  const dataset = await existing(db, datasetId);
  const own = dataset.kind === kind ? dataset : await companion(db, dataset, kind);
  const row = own
    ? await db
        .selectFrom("records")
        .select("attributes")
        .where("dataset", "=", own.number)
        .where("record_id", "=", id)
        .executeTakeFirst()
    : undefined;
  const events = dataset.kind === "event" ? dataset : await companion(db, dataset, "event");
  const found = events ? await eventsOf(db, events, kind, id) : { rows: [], isMore: false };
  return {
    id,
    attributes: row ? JSON.parse(row.attributes) : null,
    events: found.rows,
    isMore: found.isMore,
  };
}

/** The dataset of another kind that the newest project joins to one. */
async function companion(
  db: Db,
  { id }: Dataset,
  kind: "user" | "item" | "event",
): Promise<Dataset | undefined> {
  const project = await db
    .selectFrom("projects")
    .selectAll()
    .where((of) =>
      of.or([
        of("user_dataset_id", "=", id),
        of("item_dataset_id", "=", id),
        of("event_dataset_id", "=", id),
      ]),
    )
    .orderBy("created_ts", "desc")
    .executeTakeFirst();
  if (!project) return undefined;
  return db
    .selectFrom("datasets")
    .selectAll()
    .where("id", "=", project[`${kind}_dataset_id`])
    .where("kind", "=", kind)
    .executeTakeFirst();
}
