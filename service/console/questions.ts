import { json } from "node:stream/consumers";
import { notFound, ServiceError } from "../base/error";
import { resultName } from "../files/storage/files";
import type { Context } from "../handlers/handler";
import { findDataset, projectOf } from "../store/find";
import { attributesOf } from "./datasets/dataset";
import { modelsOf } from "./rows";

/** Returns the models and attributes that questions about a project can use. */
export async function askingResponse({ store: { db } }: Context, projectId: string) {
  const project = await projectOf(db, projectId);
  const items = await findDataset(db, "item", project.item_dataset_id);
  const attributes = items ? (await attributesOf(db, items)).attributes : [];
  return {
    models: (await modelsOf(db, { projectId, limit: 100 })).rows,
    // Leaves out shortened values, because they would match no items.
    attributes: attributes.map((one) => ({ ...one, values: one.values.filter(({ isWhole }) => isWhole) })),
  };
}

/** A stored result, with the field names of the API. `query_type` applies to all of its queries. */
interface StoredResult {
  readonly query_type?: "user_list" | "user_distribution";
  readonly queries?: readonly (StoredDistribution & StoredList)[];
  readonly groups?: readonly {
    readonly size: number;
    readonly user_ids: readonly string[];
    readonly markers: readonly {
      readonly attribute: string;
      readonly value: string;
      readonly share: number;
      readonly overall_share: number;
    }[];
  }[];
}

interface StoredDistribution {
  readonly attribute: string;
  readonly value: unknown;
  readonly item_count: number;
  readonly bins: readonly { readonly from: number; readonly to: number; readonly users: number }[];
}

interface StoredList {
  readonly conditions: readonly Readonly<Record<string, unknown>>[];
  readonly user_ids: readonly string[];
}

const maxUsers = 100;
const maxGroups = 200;
const maxMarkers = 6;

/** Returns the stored answer to a question. Answers are kept for a day. */
export async function resultResponse({ store, files }: Context, id: string) {
  const job = await store.db
    .selectFrom("jobs")
    .select(["id", "attempt", "status"])
    .where("id", "=", id)
    .where("job_type", "in", ["QUERYING", "CLUSTERING"])
    .executeTakeFirst();
  if (job?.status !== "SUCCEED")
    throw notFound("answer to question", id, "the question may still be running, or it failed");
  const reading = await files.read(resultName(job, "json"));
  if (!reading)
    throw new ServiceError(
      "NOT_FOUND",
      "The answer was deleted. Answers are kept for a day, or until events of a user are deleted. Ask again.",
    );
  const { query_type, queries = [], groups = [] } = (await json(reading.stream)) as StoredResult;
  const isList = query_type === "user_list";
  return {
    distributions: (isList ? [] : queries).map(({ item_count: itemCount, ...one }) => ({
      ...one,
      itemCount,
    })),
    lists: (isList ? queries : []).map(({ conditions, user_ids }) => ({
      conditions,
      userCount: user_ids.length,
      userIds: user_ids.slice(0, maxUsers),
    })),
    groups: groups.slice(0, maxGroups).map(({ size, user_ids, markers }) => ({
      size,
      userIds: user_ids.slice(0, maxUsers),
      markers: markers
        .slice(0, maxMarkers)
        .map(({ overall_share, ...marker }) => ({ ...marker, overallShare: overall_share })),
    })),
  };
}
