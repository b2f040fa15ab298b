import type { Attributes } from "../attributes";
import { attributeVectors } from "../training/cold-start";
import type { ServableModel } from "./servable";

/** Returns the vectors of all items. Items without events get vectors from their current attributes. */
export function placedVectors(
  model: ServableModel,
  items: number,
  attributes: ReadonlyMap<number, Attributes>,
): Float32Array {
  const { stride, itemAttributes } = model;
  const vectors = new Float32Array(items * stride);
  vectors.set(model.itemVectors);
  if (!itemAttributes) return vectors;
  const vectorOf = attributeVectors(itemAttributes);
  const counts = model.learned.itemUsers;
  for (const [item, record] of attributes) {
    if (!counts[item]) vectors.set(vectorOf(record) ?? new Float32Array(stride), item * stride);
  }
  return vectors;
}
