import type { Request, routes } from "../../contract";
import {
  type Attributes,
  attributeOf,
  categoriesOf,
  histogramOf,
  usageReader,
  usersWithin,
} from "../algorithms";
import { shortened } from "../base/error";
import { IdIndex } from "../base/id-index";
import type { StoredModel } from "../files/format/model";
import { type ModelSource, readModel, withoutForgotten } from "../files/models";
import { type Attempt, type Files, resultName } from "../files/storage/files";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";
import { attributeTable, snapshot } from "../store/snapshot";
import { chart } from "./chart";
import { noMatchMessage } from "./no-match";

type Fields = Request<(typeof routes)["submitQueryingJob"]>;

/** A query for a thread to run. */
export interface QueryingTask {
  readonly kind: "QUERYING";
  readonly data: ProjectData;
  readonly model: ModelSource;
  readonly query: Pick<Fields, "queryType" | "queries">;
  readonly job: Attempt;
}

/**
 * Computes how much users use attribute values, from the events that the model learned from, and writes the results to
 * files.
 */
export async function query(db: Db, files: Files, task: QueryingTask): Promise<{ message: string | null }> {
  const { stored, attributes } = await modelAndItems(db, files, task);
  const missing = new Set<string>();
  const usage = usageIn(stored, attributes, missing);

  const queries =
    task.query.queryType === "user_list"
      ? (task.query.queries as ListQuery[]).map(({ conditions }) => {
          const { answers, users } = usersMeeting(conditions, usage);
          return {
            conditions: conditions.map((condition, at) => ({
              ...wireCondition(condition),
              item_count: answers[at]?.itemCount,
            })),
            user_count: users.length,
            user_ids: users.map((user) => stored.userIds[user] as string),
          };
        })
      : (task.query.queries as DistributionQuery[]).map(({ attribute, value, bins }) => {
          const { itemCount, shares } = usage({ attribute, value });
          const { edges, counts } = histogramOf(shares, bins);
          const histogram = counts.map((users, at) => ({
            from: edges[at] as number,
            to: edges[at + 1] as number,
            users,
          }));
          return { attribute, value, item_count: itemCount, bins: histogram };
        });
  if (task.query.queryType === "user_distribution") {
    for (const [at, { attribute, value, bins }] of (queries as Distribution[]).entries()) {
      const title = `Usage of ${shortened(attribute, 60)} = ${shortened(String(value), 60)}`;
      await files.write(resultName(task.job, `${at}.svg`), [Buffer.from(chart(title, bins))]);
    }
  }
  const result = JSON.stringify({ query_type: task.query.queryType, queries });
  await files.write(resultName(task.job, "json"), [Buffer.from(result)]);
  return { message: missing.size > 0 ? [...missing].join(" ") : null };
}

type Usage = (condition: Condition) => { readonly itemCount: number; readonly shares: Float64Array };

/** Returns a function that computes how much each user uses an attribute value. Values without items are added to `missing`. */
function usageIn(
  { model }: StoredModel,
  attributes: readonly (Attributes | undefined)[],
  missing: Set<string>,
): Usage {
  const usageOf = usageReader(model);
  return ({ attribute, value }) => {
    const items = attributes.flatMap((record, item) =>
      categoriesOf(attributeOf(record, attribute)).includes(String(value)) ? [item] : [],
    );
    if (items.length === 0) missing.add(noMatchMessage(attributes, attribute, String(value)));
    return { itemCount: items.length, shares: usageOf(items) };
  };
}

function usersMeeting(conditions: ListQuery["conditions"], usage: Usage) {
  const answers = conditions.map((condition) => {
    const { itemCount, shares } = usage(condition);
    const { lowerBound = null, upperBound = null } = condition;
    return { itemCount, users: usersWithin(shares, lowerBound, upperBound) };
  });
  return { answers, users: intersection(answers.map((answer) => answer.users)) };
}

/** Returns the ids of the users of a model who meet all conditions. */
export async function listUsers(
  db: Db,
  files: Files,
  task: Pick<QueryingTask, "data" | "model">,
  { conditions }: ListQuery,
): Promise<string[]> {
  const { stored, attributes } = await modelAndItems(db, files, task);
  const { users } = usersMeeting(conditions, usageIn(stored, attributes, new Set()));
  return users.map((user) => stored.userIds[user] as string);
}

type ListQuery = Extract<Fields, { queryType: "user_list" }>["queries"][number];
type DistributionQuery = Extract<Fields, { queryType: "user_distribution" }>["queries"][number];
type Distribution = Condition & { readonly bins: { from: number; to: number; users: number }[] };
type Condition = Pick<DistributionQuery, "attribute" | "value">;

/** Reads a model and the attributes of its items. Items that were added after the training are left out. */
export async function modelAndItems(
  db: Db,
  files: Files,
  { data, model }: Pick<QueryingTask, "data" | "model">,
) {
  const read = await readModel(files, model.modelId, { version: model.version });
  return snapshot(db, async (frozen) => {
    const stored = await withoutForgotten(frozen, read, data, model);
    const places = new IdIndex([...stored.itemIds]);
    const { records } = await attributeTable(frozen, data.items, places);
    return {
      stored,
      attributes: Array.from({ length: stored.itemIds.length }, (_, item) => records.at(item)),
    };
  });
}

function wireCondition({ attribute, value, lowerBound, upperBound }: ListQuery["conditions"][number]) {
  return { attribute, value, lower_bound: lowerBound ?? null, upper_bound: upperBound ?? null };
}

function intersection([first = [], ...others]: number[][]): number[] {
  return others.reduce((kept, list) => {
    const also = new Set(list);
    return kept.filter((user) => also.has(user));
  }, first);
}
