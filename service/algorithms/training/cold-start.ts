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

/** Attributes of the users or of the items, and how to handle them (null: infer). */
export interface AttributeTable {
  readonly schema: AttributeSchema | null;
  readonly records: AttributeRecords;
}

/** Gives vectors to users or items that have attributes but no events. */
export interface AttributeModel {
  readonly space: FeatureSpace;
  readonly map: LinearMap;
}

const PENALTIES = [1, 3, 10, 30, 100, 300];
const MIN_EXAMPLES = 10;
const MOST_EXAMPLES = 20_000;
const SEED = 1;

/** Learns vectors from attributes on rows that have both, or a sample of them; null when there are too few of them or no usable attribute. */
export function learnAttributeModel(
  { schema, records }: AttributeTable,
  vectors: Float32Array,
  stride: number,
  warm: (row: number) => boolean,
): AttributeModel | null {
  const rows = examplesOf(records, warm);
  if (rows.length < MIN_EXAMPLES) return null;
  const known = Array.from(rows, (row) => records.at(row));
  const space = learnFeatures(known, schema ?? inferSchema(records));
  if (space.size === 0) return null;
  const read = featureReader(space);
  const examples = known.map((record, at) => ({ row: rows[at], features: read(record) }));
  const moments = (of: readonly Example[]) => momentsOf(of, vectors, space.size, stride);

  const random = createRandom(SEED);
  const kept: Example[] = [];
  const held: Example[] = [];
  for (const example of examples) (random.next() < 0.2 ? held : kept).push(example);
  const learned = moments(kept);
  const errors = PENALTIES.map((penalty) => {
    const map = solveRidge(learned, penalty);
    return held.reduce((sum, { row, features }) => {
      const guess = applyMap(map, features);
      return sum + guess.reduce((part, value, k) => part + (value - vectors[row * stride + k]) ** 2, 0);
    }, 0);
  });
  const penalty = PENALTIES[errors.indexOf(Math.min(...errors))];
  return { space, map: solveRidge(moments(examples), penalty) };
}

function examplesOf(records: AttributeRecords, warm: (row: number) => boolean): Uint32Array {
  const rows: number[] = [];
  for (let row = 0; row < records.length; row++) if (warm(row) && records.at(row)) rows.push(row);
  const drawn = sample(createRandom(SEED), rows.length, MOST_EXAMPLES);
  return drawn.map((at) => rows[at]);
}

/** The vector of a record; null when none of its attributes is known. */
export type AttributeVectors = (record: Attributes | undefined) => Float32Array | null;

/** Makes the function that gives the vector of a record; null when none of its attributes is known. */
export function attributeVectors(model: AttributeModel): AttributeVectors {
  const read = featureReader(model.space);
  return (record) => {
    const features = read(record);
    return features.places.length === 0 ? null : applyMap(model.map, features);
  };
}
