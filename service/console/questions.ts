import { json } from "node:stream/consumers";
import { notFound, ServiceError } from "../base/error";
import { resultName } from "../files/places/files";
import type { Context } from "../handlers/handler";
import { findDataset, projectOf } from "../store/find";
import type { AskingAnswer, ResultAnswer } from "./answers";
import { attributesOf } from "./datasets/dataset";
import { modelsOf } from "./rows";

/** What a question to a project may be about. */
export async function askingAnswer({ store: { db } }: Context, projectId: string): Promise<AskingAnswer> {
  const project = await projectOf(db, projectId);
  const items = await findDataset(db, "item", project.item_dataset_id);
  const attributes = items ? (await attributesOf(db, items)).attributes : [];
  return {
    models: (await modelsOf(db, { projectId, limit: 100 })).rows,
    // What was cut would find nothing.
    attributes: attributes.map((one) => ({ ...one, values: one.values.filter(({ isWhole }) => isWhole) })),
  };
}

/** What a result holds, in the words of the wire. */
interface Stored {
  readonly query_type?: string;
  readonly queries?: readonly (Readonly<Record<string, unknown>> & {
    readonly user_ids?: readonly string[];
  })[];
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

const [mostUsers, mostGroups, mostMarkers] = [100, 200, 6];

/** The answer to a question, as long as it is kept. */
export async function resultAnswer({ store, files }: Context, id: string): Promise<ResultAnswer> {
  const job = await store.db
    .selectFrom("jobs")
    .select(["id", "attempt", "status"])
    .where("id", "=", id)
    .where("job_type", "in", ["QUERYING", "CLUSTERING"])
    .executeTakeFirst();
  if (job?.status !== "SUCCEED") throw notFound("answer of a question", id, "it may not be there yet");
  const reading = await files.read(resultName(job, "json"));
  if (!reading)
    throw new ServiceError(
      "NOT_FOUND",
      "The answer is gone: it is kept for a day, and no longer than until events of a user are deleted. Ask again.",
    );
  const { query_type, queries = [], groups = [] } = (await json(reading.stream)) as Stored;
  const isList = query_type === "user_list";
  return {
    distributions: isList
      ? []
      : (queries.map(({ attribute, value, item_count, bins }) => ({
          ...{ attribute, value, bins },
          itemCount: item_count,
        })) as unknown as ResultAnswer["distributions"]),
    lists: isList
      ? queries.map(({ conditions, user_ids = [] }) => ({
          conditions: conditions as ResultAnswer["lists"][number]["conditions"],
          userCount: user_ids.length,
          userIds: user_ids.slice(0, mostUsers),
        }))
      : [],
    groups: groups.slice(0, mostGroups).map(({ size, user_ids, markers }) => ({
      size,
      userIds: user_ids.slice(0, mostUsers),
      markers: markers
        .slice(0, mostMarkers)
        .map(({ overall_share, ...marker }) => ({ ...marker, overallShare: overall_share })),
    })),
  };
}
