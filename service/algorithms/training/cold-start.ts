import {
  type AttributeRecords,
  type AttributeSchema,
  type Attributes,
  type FeatureSpace,
  featureReader,
  inferSchema,
  learnFeatures,
} from "../attributes";
import { createRandom, sample } from "../random";
import { applyMap, type Example, type LinearMap, momentsOf, solveRidge } from "./ridge";

/** Attributes of users or items, and their kinds. If the schema is null, the kinds are inferred. */
export interface AttributeTable {
  readonly schema: AttributeSchema | null;
  readonly records: AttributeRecords;
}

/** A learned mapping from attributes to vectors, for users or items without events. */
export interface AttributeModel {
  readonly space: FeatureSpace;
  readonly map: LinearMap;
}

const PENALTIES = [1, 3, 10, 30, 100, 300];
const MIN_EXAMPLES = 10;
const MAX_EXAMPLES = 20_000;
const HELD_OUT_SHARE = 0.2;
const SEED = 1;

/**
 * Learns to map attributes to vectors, from users or items that have both. Uses a sample if there are many. Returns
 * null if there are too few examples, or if no attribute is usable.
 */
export function learnAttributeModel(
  { schema, records }: AttributeTable,
  vectors: Float32Array,
  stride: number,
  hasEvents: (row: number) => boolean,
): AttributeModel | null {
  const rows = examplesOf(records, hasEvents);
  if (rows.length < MIN_EXAMPLES) return null;
  const known = Array.from(rows, (row) => records.at(row));
  const space = learnFeatures(known, schema ?? inferSchema(records));
  if (space.size === 0) return null;
  const read = featureReader(space);
  const examples = known.map((record, at) => ({ row: rows[at], features: read(record) }));
  const moments = (of: readonly Example[]) => momentsOf(of, vectors, space.size, stride);

  const random = createRandom(SEED);
  const train: Example[] = [];
  const test: Example[] = [];
  for (const example of examples) (random.next() < HELD_OUT_SHARE ? test : train).push(example);
  const learned = moments(train);
  const errors = PENALTIES.map((penalty) => {
    const map = solveRidge(learned, penalty);
    return test.reduce((sum, { row, features }) => {
      const guess = applyMap(map, features);
      return sum + guess.reduce((part, value, k) => part + (value - vectors[row * stride + k]) ** 2, 0);
    }, 0);
  });
  const penalty = PENALTIES[errors.indexOf(Math.min(...errors))];
  return { space, map: solveRidge(moments(examples), penalty) };
}

function examplesOf(records: AttributeRecords, hasEvents: (row: number) => boolean): Uint32Array {
  const rows: number[] = [];
  for (let row = 0; row < records.length; row++) if (hasEvents(row) && records.at(row)) rows.push(row);
  const drawn = sample(createRandom(SEED), rows.length, MAX_EXAMPLES);
  return drawn.map((at) => rows[at]);
}

/** Returns the vector of a record; null if the model knows none of its attributes. */
export type AttributeVectors = (record: Attributes | undefined) => Float32Array | null;

/** Returns a function that maps attributes to a vector. */
export function attributeVectors(model: AttributeModel): AttributeVectors {
  const read = featureReader(model.space);
  return (record) => {
    const features = read(record);
    return features.places.length === 0 ? null : applyMap(model.map, features);
  };
}
