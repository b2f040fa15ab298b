import {
  type AttributeSchema,
  type Attributes,
  type FeatureSpace,
  featureReader,
  inferSchema,
  learnFeatures,
} from "../attributes";
import { createRandom } from "../random";
import { applyMap, type LinearMap, momentsOf, solveRidge } from "./ridge";

/** Attributes of the users or of the items, by index, and how to handle them (null: infer). */
export interface AttributeTable {
  readonly schema: AttributeSchema | null;
  readonly records: readonly (Attributes | undefined)[];
}

/** Gives vectors to users or items that have attributes but no events. */
export interface AttributeModel {
  readonly space: FeatureSpace;
  readonly map: LinearMap;
}

const PENALTIES = [1, 3, 10, 30, 100, 300];
const MIN_EXAMPLES = 10;

/** Learns vectors from attributes on rows that have both; null when there are too few of them or no usable attribute. */
export function learnAttributeModel(
  { schema, records }: AttributeTable,
  vectors: Float32Array,
  stride: number,
  warm: (row: number) => boolean,
): AttributeModel | null {
  const rows = records.flatMap((record, row) => (record && warm(row) ? [row] : []));
  if (rows.length < MIN_EXAMPLES) return null;
  const space = learnFeatures(
    rows.map((row) => records[row]),
    schema ?? inferSchema(records),
  );
  if (space.size === 0) return null;
  const read = featureReader(space);
  const features = records.map(read);
  const moments = (of: readonly number[]) => momentsOf(of, features, vectors, space.size, stride);

  const random = createRandom(1);
  const kept: number[] = [];
  const held: number[] = [];
  for (const row of rows) (random.next() < 0.2 ? held : kept).push(row);
  const learned = moments(kept);
  const errors = PENALTIES.map((penalty) => {
    const map = solveRidge(learned, penalty);
    return held.reduce((sum, row) => {
      const guess = applyMap(map, features[row] as ReturnType<typeof read>);
      return (
        sum + guess.reduce((part, value, k) => part + (value - (vectors[row * stride + k] as number)) ** 2, 0)
      );
    }, 0);
  });
  const penalty = PENALTIES[errors.indexOf(Math.min(...errors))] as number;
  return { space, map: solveRidge(moments(rows), penalty) };
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
