import { arrayBytes, Kernel } from "../kernel";
import { eigenOf } from "../training/eigen";
import type { ModelWithoutPairs } from "./servable";

/** Number of rows that the kernel multiplies at a time. */
const BLOCK = 4096;

/**
 * Rotates the vectors of a model to make the Gram matrix of its items with events diagonal, which fold-in requires.
 * Scores do not change. Models of external trainers need this.
 * @param counts the number of users of each item
 */
export function diagonalized<M extends ModelWithoutPairs>(model: M, counts: Uint32Array): M {
  const { stride, itemVectors, userVectors, userAttributes, itemAttributes } = model;
  const kernel = new Kernel(arrayBytes(BLOCK * stride) + arrayBytes(stride * stride) + arrayBytes(stride));
  const block = kernel.floats(BLOCK * stride);
  const matrix = kernel.floats(stride * stride);
  const scratch = kernel.floats(stride);

  let rows = 0;
  const addBlock = () => {
    kernel.run.addGram(block.byteOffset, rows, stride, matrix.byteOffset);
    rows = 0;
  };
  for (let item = 0; item < model.items; item++) {
    if (!counts[item]) continue;
    block.set(itemVectors.subarray(item * stride, (item + 1) * stride), rows++ * stride);
    if (rows === BLOCK) addBlock();
  }
  addBlock();
  matrix.set(eigenOf(matrix, stride).vectors);

  const rotate = (vectors: Float32Array): Float32Array => {
    const out = new Float32Array(vectors.length);
    for (let from = 0; from < vectors.length; from += BLOCK * stride) {
      const part = vectors.subarray(from, from + BLOCK * stride);
      block.set(part);
      kernel.run.rotate(
        block.byteOffset,
        part.length / stride,
        stride,
        matrix.byteOffset,
        scratch.byteOffset,
      );
      out.set(block.subarray(0, part.length), from);
    }
    return out;
  };
  const rotateMap = <T extends ModelWithoutPairs["userAttributes"]>(of: T): T =>
    of && { ...of, map: { ...of.map, weights: rotate(of.map.weights) } };
  return {
    ...model,
    itemVectors: rotate(itemVectors),
    userVectors: rotate(userVectors),
    userAttributes: rotateMap(userAttributes),
    itemAttributes: rotateMap(itemAttributes),
  };
}
