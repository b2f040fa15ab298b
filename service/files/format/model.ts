import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import type { AttributeModel, ModelWithoutPairs, TrainedModel } from "../../algorithms";
import { diagonalized, itemCounts, stepsOf } from "../../algorithms";
import { allWithin, largest } from "./numbers";
import { orderHeader, orderSections, readOrder, writtenOrder } from "./order";
import { StoredPairs } from "./pairs";
import { rankingHeader, rankingSections, readRanking, writtenRanking } from "./ranking";
import { eventRule, exposureRule, foldInHeader, neighbourRule, readRule, writtenRule } from "./rules";
import {
  encoded,
  FormatError,
  faultsOf,
  type OpenSections,
  openSections,
  type Section,
  widened,
} from "./sections";
import { readStrings, stringSections } from "./strings";

/** A model with the ids of its users and items. */
export interface Stored<M> {
  readonly model: M;
  readonly userIds: readonly string[];
  readonly itemIds: readonly string[];
  /** The row that each user had when the model was trained. Undefined if no user was removed since then. */
  readonly rows?: Uint32Array;
}

/** A trained model with its ids. */
export type StoredModel = Stored<TrainedModel>;

/** The content of a model's file, except the pairs, which are read on demand. */
export interface OpenModel {
  readonly stored: Stored<ModelWithoutPairs>;
  readonly pairs: StoredPairs;
  /** Whether the Gram matrix of the item vectors is diagonal. If not, the vectors have to be diagonalized. */
  readonly isDiagonal: boolean;
}

/** Newest version of the format. A model is written in the oldest version that can represent it. */
const newestVersion = 5;

const kind = "recommendation-model";

const number = z.number();
const positive = z.number().positive();
const rows = z
  .int()
  .nonnegative()
  .max(2 ** 32 - 2);

const attributesSchema = z.array(
  z.discriminatedUnion("kind", [
    z.object({ name: z.string(), kind: z.literal("NUMERICAL"), mean: number, deviation: positive }),
    z.object({ name: z.string(), kind: z.literal("CATEGORICAL"), categories: rows }),
  ]),
);

const headerSchema = z.object({
  algorithm: z.string().min(1),
  parameters: z.record(z.string(), z.unknown()),
  report: z.record(z.string(), z.unknown()).nullable(),
  users: rows,
  items: rows,
  dimensions: z.int().positive().max(1024),
  gram: z.enum(["diagonal", "any"]),
  fold_in: foldInHeader,
  neighbours: neighbourRule.header.nullable().default(null),
  events: eventRule.header.optional(),
  exposure: exposureRule.header.optional(),
  order: orderHeader.optional(),
  ranking: rankingHeader.nullable().default(null),
  user_attributes: attributesSchema.nullable(),
  item_attributes: attributesSchema.nullable(),
  user_rows: z.boolean().optional(),
});

type Header = z.output<typeof headerSchema>;

/** Encodes a model as a file, in pieces. */
export function encodeModel({ model, userIds, itemIds, rows }: StoredModel): Generator<Uint8Array> {
  const { stride, users, items, interactions, neighbours, userAttributes, itemAttributes } = model;
  const matrix = (values: Float32Array, count: number): Section => ({ values, shape: [count, stride] });
  const list = (values: Float32Array | Uint32Array): Section => ({ values, shape: [values.length] });
  const attributes = (name: string, of: AttributeModel | null): Record<string, Section> =>
    of
      ? {
          ...stringSections(`${name}_categories`, categoriesOf(of)),
          [`${name}_attribute_vectors`]: matrix(of.map.weights, of.space.size + 1),
        }
      : {};
  const header: Header & { kind: string; version: number } = {
    kind,
    version: versionOf(model),
    algorithm: model.algorithm,
    parameters: { ...model.parameters },
    report: model.report && { ...model.report },
    users,
    items,
    // Includes the padding of each vector, because diagonalizing may have moved the zeros.
    dimensions: stride,
    gram: "diagonal",
    fold_in: writtenRule(model.foldIn),
    neighbours: neighbours && neighbourRule.written(neighbours),
    ...(model.eventRule && { events: eventRule.written(model.eventRule) }),
    ...(model.exposure && { exposure: exposureRule.written(model.exposure) }),
    ...(model.order && { order: writtenOrder(model.order) }),
    ranking: writtenRanking(model.ranking),
    user_attributes: writtenAttributes(userAttributes),
    item_attributes: writtenAttributes(itemAttributes),
    // Earlier releases ignore this field. It is only needed to find a user who is forgotten while the model is
    // deployed.
    ...(rows && { user_rows: true }),
  };
  return encoded(header, {
    ...stringSections("user_id", userIds),
    ...(rows && { user_rows: list(rows) }),
    ...stringSections("item_id", itemIds),
    user_vectors: matrix(model.userVectors, users),
    item_vectors: matrix(model.itemVectors, items),
    interaction_starts: list(interactions.start),
    interaction_items: list(interactions.index),
    interaction_weights: list(interactions.weight),
    ...attributes("user", userAttributes),
    ...attributes("item", itemAttributes),
    ...rankingSections(model.ranking),
    ...(model.order && orderSections(model.order, stepsOf(interactions, model.order.rule))),
  });
}

/** Reads a model with all of its pairs. */
export async function decodeModel(file: FileHandle): Promise<StoredModel> {
  const { stored, pairs, isDiagonal } = await openModel(file);
  const model = { ...stored.model, interactions: await pairs.all(stored.model.order?.rule) };
  return { ...stored, model: isDiagonal ? model : diagonalized(model, itemCounts(model.interactions)) };
}

/** Reads a model's file, except the pairs. */
export async function openModel(file: FileHandle): Promise<OpenModel> {
  const sections = await openSections(file);
  const header = checkedHeader(sections.header);
  const { users, items, dimensions } = header;
  const stride = Math.ceil(dimensions / 8) * 8;
  const matrix = async (name: string, count: number) => {
    const values = await sections.read(name, "float32", [count, dimensions]);
    if (!allWithin(values, -largest, largest))
      throw new FormatError(`has a value in ${name} that is not finite`);
    return widened(values, count, dimensions, stride);
  };
  const attributes = async (name: string, of: Header["user_attributes"]): Promise<AttributeModel | null> => {
    if (!of) return null;
    const features = of.map((one) => (one.kind === "CATEGORICAL" ? one.categories : 1));
    const size = features.reduce((sum, one) => sum + one, 0);
    const categories = of.reduce((sum, one) => sum + (one.kind === "CATEGORICAL" ? one.categories : 0), 0);
    const texts = await readStrings(sections, `${name}_categories`, categories);
    const weights = await matrix(`${name}_attribute_vectors`, size + 1);
    return { space: { size, attributes: spaceOf(of, texts) }, map: { stride, weights } };
  };
  const itemAttributes = await attributes("item", header.item_attributes);
  const order = await readOrder(sections, header.order, items);
  const model: ModelWithoutPairs = {
    algorithm: header.algorithm,
    parameters: header.parameters,
    report: header.report,
    stride,
    users,
    items,
    userVectors: await matrix("user_vectors", users),
    itemVectors: await matrix("item_vectors", items),
    foldIn: readRule(header.fold_in),
    neighbours: header.neighbours === null ? null : neighbourRule.read(header.neighbours),
    ...(header.events !== undefined && { eventRule: eventRule.read(header.events) }),
    ...(header.exposure !== undefined && { exposure: exposureRule.read(header.exposure) }),
    ...(order && { order }),
    userAttributes: await attributes("user", header.user_attributes),
    itemAttributes,
    ranking: await readRanking(sections, header.ranking, { users, items, features: itemAttributes?.space }),
  };
  return {
    stored: {
      model,
      userIds: await readIds(sections, "user_id", users),
      itemIds: await readIds(sections, "item_id", items),
      ...(header.user_rows && { rows: await sections.read("user_rows", "uint32", [users]) }),
    },
    pairs: await StoredPairs.open(sections, { users, items, withTimes: order !== undefined }),
    isDiagonal: header.gram === "diagonal",
  };
}

async function readIds(file: OpenSections, name: string, count: number): Promise<string[]> {
  const ids = await readStrings(file, name, count);
  if (new Set(ids).size < count) throw new FormatError(`contains the same ${name} twice`);
  return ids;
}

function checkedHeader(given: Readonly<Record<string, unknown>>): Header {
  if (given.kind !== kind)
    throw new FormatError(`is of kind ${JSON.stringify(given.kind)} instead of ${kind}`);
  const { version } = given;
  if (typeof version === "number" && version > newestVersion)
    throw new FormatError(
      `has format version ${version}, but this release reads only versions up to ${newestVersion}`,
      "Update pulumi-recommender.",
    );
  if (version !== 1 && version !== 2 && version !== 3 && version !== 4 && version !== 5)
    throw new FormatError("has a header without a known version");
  const checked = headerSchema.safeParse(given);
  if (!checked.success) throw new FormatError(`has an invalid header: ${faultsOf(checked.error)}`);
  // If the file has an older format version, ignores the fields that later versions added.
  const { neighbours, events, exposure, order, ...first } = checked.data;
  return {
    ...first,
    neighbours: neighboursIn(version, neighbours),
    ...(version > 2 && { events }),
    ...(version > 3 && { exposure }),
    ...(version > 4 && { order }),
  };
}

function neighboursIn(version: number, rule: Header["neighbours"]): Header["neighbours"] {
  if (version < 2 || rule === null) return null;
  if (version > 4) return rule;
  const { similarity_exponent: _, ...earlier } = rule as Readonly<Record<string, unknown>>;
  return earlier;
}

function versionOf({ order, exposure, eventRule, neighbours }: TrainedModel): number {
  if (order || neighbours?.similarityExponent !== undefined) return 5;
  if (exposure) return 4;
  if (eventRule) return 3;
  return neighbours ? 2 : 1;
}

function writtenAttributes(of: AttributeModel | null): Header["user_attributes"] {
  if (!of) return null;
  return of.space.attributes.map((one) =>
    one.kind === "CATEGORICAL"
      ? { name: one.name, kind: one.kind, categories: one.categories.length }
      : { name: one.name, kind: one.kind, mean: one.mean, deviation: one.deviation },
  );
}

function categoriesOf({ space }: AttributeModel): string[] {
  return space.attributes.flatMap((one) => (one.kind === "CATEGORICAL" ? one.categories : []));
}

function spaceOf(
  of: NonNullable<Header["user_attributes"]>,
  categories: readonly string[],
): AttributeModel["space"]["attributes"] {
  let at = 0;
  let category = 0;
  return of.map((one) => {
    const begin = at;
    if (one.kind === "NUMERICAL") {
      at++;
      return { ...one, at: begin };
    }
    at += one.categories;
    category += one.categories;
    return { ...one, at: begin, categories: categories.slice(category - one.categories, category) };
  });
}
