import { z } from "zod";
import { limits } from "../../contract";
import { attributes, id, recordId } from "../../contract/field";
import type { Attributes } from "../algorithms";
import { ServiceError } from "../base/error";
import type { Context } from "../handlers/handler";
import { explain } from "../serving/explain";
import { findDataset, projectOf } from "../store/find";

const tryRequest = z.strictObject({
  projectId: id,
  userId: recordId.optional(),
  attributes: attributes.optional(),
  add: z
    .array(z.strictObject({ itemId: recordId, weight: z.number().min(-1e6).max(1e6) }))
    .max(200)
    .default([]),
  remove: z.array(recordId).max(10_000).default([]),
  limit: z.int().min(1).max(100).default(10),
  filterQuery: z.string().max(limits.filterCharacters).optional(),
});

/** Names of attributes that contain the title or name of an item. */
const labelAttributes = /^(title|name|label|headline|product_?name|item_?name)$/i;

/** Returns the title or name of an item, or null if it has none. */
export function labelOf(attributes: Readonly<Record<string, unknown>>): string | null {
  const name = Object.keys(attributes).find((one) => labelAttributes.test(one));
  const value = name === undefined ? undefined : attributes[name];
  return typeof value === "string" ? value : null;
}

/** Computes the recommendations for a user, with reasons. Nothing is stored, and it does not count as an API call. */
export async function tryOut(context: Context, body: unknown) {
  const parsed = tryRequest.safeParse(body);
  if (!parsed.success) throw new ServiceError("BAD_REQUEST", z.prettifyError(parsed.error));
  const given = parsed.data;
  const deployed = await context.serving.find(given.projectId);
  const began = performance.now();
  const { basis, own, items, modelId, rankedBy } = await explain(deployed, given).catch(failWithDetails);
  const ms = performance.now() - began;
  const ids = [...own.slice(0, maxUserItems), ...items].map(({ itemId }) => itemId);
  const known = await deployed.attributesOf([...new Set(ids)]);
  const of = (id: string) => known.get(id) ?? {};
  const labelledBy =
    items.flatMap(({ itemId }) => Object.keys(of(itemId))).find((name) => labelAttributes.test(name)) ?? null;
  const label = (id: string) => {
    const value = labelledBy === null ? undefined : of(id)[labelledBy];
    return typeof value === "string" ? value : null;
  };
  const added = new Set(given.add.map(({ itemId }) => itemId));
  const record = given.userId === undefined ? undefined : await deployed.attributesOfUser(given.userId);
  return {
    userId: given.userId ?? null,
    isKnown: record !== undefined || own.some(({ itemId }) => !added.has(itemId)),
    basis,
    attributes: record ?? null,
    own: own
      .slice(0, maxUserItems)
      .map(({ itemId, weight }) => ({ itemId, weight, attributes: of(itemId), isAdded: added.has(itemId) })),
    items: items.map(({ reasons, byAttributes: _, ...item }) => ({
      ...item,
      attributes: of(item.itemId),
      reasons: reasons.slice(0, maxReasons).map((reason) => ({ ...reason, label: label(reason.itemId) })),
      // Omitted reasons are added to the rest, so the parts still sum to the score.
      rest: item.rest + reasons.slice(maxReasons).reduce((sum, { adds }) => sum + adds, 0),
    })),
    ms,
    modelId,
    rankedBy,
    labelledBy,
    userDatasetId: (await projectOf(context.store.db, given.projectId)).user_dataset_id,
  };
}

/** Puts the details of an error into its message, because the page shows only the message. */
function failWithDetails(error: unknown): never {
  const [detail] = error instanceof ServiceError ? (error.more.details ?? []) : [];
  throw detail ? new ServiceError("BAD_REQUEST", `The filter is invalid ${detail.message}.`) : error;
}

const maxUserItems = 300;
const maxReasons = 12;

/** Finds users or items of a project whose ids begin with a text, or whose attributes contain it. */
export async function suggest(
  { store: { db } }: Context,
  projectId: string,
  kind: "user" | "item",
  text: string,
) {
  const project = await projectOf(db, projectId);
  const id = kind === "user" ? project.user_dataset_id : project.item_dataset_id;
  const dataset = await findDataset(db, kind, id);
  if (!dataset) return [];
  const records = () =>
    db
      .selectFrom("records")
      .select(["record_id", "attributes"])
      .where("dataset", "=", dataset.number)
      .orderBy("record_id")
      .limit(8);
  const begin = text.slice(0, 256);
  const byId = await records()
    .where("record_id", ">=", begin)
    .where("record_id", "<", `${begin}\u{10ffff}`)
    .execute();
  // People search for items by title, so the attributes of the first few thousand records are searched too.
  const byName =
    byId.length < 8 && begin.length >= 2
      ? (await records().limit(3000).execute()).filter(({ attributes }) =>
          attributes.toLowerCase().includes(begin.toLowerCase()),
        )
      : [];
  const found = new Map([...byId, ...byName].map((row) => [row.record_id, row]));
  return [...found.values()]
    .slice(0, 8)
    .map((row) => ({ id: row.record_id, attributes: JSON.parse(row.attributes) as Attributes }));
}

/** A user or an item with its attributes. */
export type Suggestion = Awaited<ReturnType<typeof suggest>>[number];
