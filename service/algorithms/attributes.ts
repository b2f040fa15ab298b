import { mean } from "./linear-algebra";

/** Kind of an attribute: a number, or one or more categories. */
export type AttributeKind = "NUMERICAL" | "CATEGORICAL";

/** Kinds of attributes by name. */
export type AttributeSchema = Readonly<Record<string, AttributeKind>>;

/** Attributes of one user or item. */
export type Attributes = Readonly<Record<string, unknown>>;

/**
 * Attributes of users or items by index. Callers read one record at a time, because the heap may be too small for all.
 */
export interface AttributeRecords extends Iterable<Attributes | undefined> {
  readonly length: number;
  at(index: number): Attributes | undefined;
}

/** Mapping from attributes to features, learned from the records of one dataset. */
export interface FeatureSpace {
  /** Number of features. */
  readonly size: number;
  readonly attributes: readonly FeatureAttribute[];
}

type FeatureAttribute =
  | {
      readonly name: string;
      readonly kind: "NUMERICAL";
      readonly at: number;
      readonly mean: number;
      readonly deviation: number;
    }
  | {
      readonly name: string;
      readonly kind: "CATEGORICAL";
      readonly at: number;
      readonly categories: readonly string[];
    };

/** Sparse features of one record: positions and values. All other features are 0. */
export interface Features {
  readonly places: number[];
  readonly values: number[];
}

const MAX_FEATURES = 1000;
const MAX_CATEGORIES = 400;

/** Returns an attribute of a record. Ignores inherited properties such as `constructor`. */
export function attributeOf(record: Attributes | undefined, name: string): unknown {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns the categories in an attribute value. A list has several, an empty value has none. */
export function categoriesOf(value: unknown): string[] {
  try {
    return categoriesIn(value);
  } catch (error) {
    // Version 0.1.0 accepted values that are nested too deeply for this recursion. They are treated as empty.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function categoriesIn(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return [...new Set(value.flatMap(categoriesIn))];
  return [typeof value === "object" ? JSON.stringify(value) : String(value)];
}

/** Infers the kind of each attribute: numerical if all of its values are numbers, otherwise categorical. */
export function inferSchema(records: Iterable<Attributes | undefined>): AttributeSchema {
  const kinds = new Map<string, AttributeKind>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record ?? {})) {
      if (value === null || value === undefined) continue;
      const kind = typeof value === "number" ? "NUMERICAL" : "CATEGORICAL";
      if (kinds.get(name) !== "CATEGORICAL") kinds.set(name, kind);
    }
  }
  return Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Chooses the features of records. Categories that occur only once are left out, because no other record shares them.
 */
export function learnFeatures(
  records: readonly (Attributes | undefined)[],
  schema: AttributeSchema,
): FeatureSpace {
  const attributes: FeatureAttribute[] = [];
  let size = 0;
  for (const [name, kind] of Object.entries(schema)) {
    const free = MAX_FEATURES - size;
    if (free <= 0) break;
    if (kind === "NUMERICAL") {
      const numbers = records
        .map((record) => numberOf(attributeOf(record, name)))
        .filter((value) => value !== undefined);
      if (numbers.length < 2) continue;
      const average = mean(numbers);
      const variance = mean(numbers.map((value) => (value - average) ** 2));
      if (!(variance > 0) || !Number.isFinite(variance)) continue;
      attributes.push({ name, kind, at: size++, mean: average, deviation: Math.sqrt(variance) });
    } else {
      const categories = frequentCategories(records, name).slice(0, Math.min(free, MAX_CATEGORIES));
      if (categories.length === 0) continue;
      attributes.push({ name, kind, at: size, categories });
      size += categories.length;
    }
  }
  return { size, attributes };
}

/** Returns a function that converts a record to features. */
export function featureReader(space: FeatureSpace): (record: Attributes | undefined) => Features {
  const placesOf = new Map(
    space.attributes.map((attribute) => [
      attribute.name,
      new Map(
        attribute.kind === "CATEGORICAL"
          ? attribute.categories.map((category, k) => [category, attribute.at + k])
          : [],
      ),
    ]),
  );
  return (record) => {
    const features: Features = { places: [], values: [] };
    if (!record) return features;
    for (const attribute of space.attributes) {
      const value = attributeOf(record, attribute.name);
      if (attribute.kind === "NUMERICAL") {
        const number = numberOf(value);
        if (number === undefined) continue;
        features.places.push(attribute.at);
        // An outlier would otherwise dominate the vector.
        features.values.push(Math.max(-4, Math.min(4, (number - attribute.mean) / attribute.deviation)));
      } else {
        const places = categoriesOf(value).flatMap(
          (category) => placesOf.get(attribute.name)?.get(category) ?? [],
        );
        for (const place of places) {
          features.places.push(place);
          features.values.push(1 / Math.sqrt(places.length));
        }
      }
    }
    return features;
  };
}

/** A value of an item attribute, and the items with this value. */
export interface AttributeValue {
  readonly attribute: string;
  readonly value: string;
  readonly items: Uint32Array;
}

/** Returns each value of the categorical item attributes, with the items that have it. */
export function attributeValues(
  records: readonly (Attributes | undefined)[],
  schema: AttributeSchema = inferSchema(records),
): AttributeValue[] {
  const lists = new Map<string, { attribute: string; value: string; items: number[] }>();
  records.forEach((record, item) => {
    for (const [attribute, kind] of Object.entries(schema)) {
      if (kind !== "CATEGORICAL") continue;
      for (const value of categoriesOf(attributeOf(record, attribute))) {
        const key = JSON.stringify([attribute, value]);
        const list = lists.get(key) ?? { attribute, value, items: [] };
        list.items.push(item);
        lists.set(key, list);
      }
    }
  });
  return [...lists.values()].map((list) => ({ ...list, items: Uint32Array.from(list.items) }));
}

function numberOf(value: unknown): number | undefined {
  if (value === null || value === undefined || value === "" || Array.isArray(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function frequentCategories(records: readonly (Attributes | undefined)[], name: string): string[] {
  const counts = new Map<string, number>();
  for (const record of records) {
    for (const category of categoriesOf(attributeOf(record, name)))
      counts.set(category, (counts.get(category) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count >= 2)
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .map(([category]) => category);
}
