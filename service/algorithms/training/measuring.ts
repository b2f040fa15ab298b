import { BLOCK, paddedBlocks } from "../blocks";
import { DIVERSIFIED, diversified, type ExposureRule, penalized, penaltyOf } from "../exposure";
import { rowOf } from "../interactions";
import { kernelOn, paddedRows } from "../kernel";
import { Neighbours, type PlacedRows, power } from "../neighbours";
import { TopK, topIndices } from "../top";
import { CUTOFF, measure } from "./evaluation";
import { bestByProducts, type ItemsByLength } from "./products";
import type { MeasureWork } from "./work";

/** Returns how many users are scored together, limited by memory. They share each read of the item vectors. */
export function usersAtOnce(items: number): number {
  return Math.max(1, Math.min(8, Math.floor(2 ** 20 / items)));
}

/**
 * Size of a block of item vectors, in floats. A block stays in the processor's cache while a batch of users is
 * multiplied with it.
 */
const CACHED_FLOATS = 2 ** 14;

/** Writes the quality of a user's list for one blend. */
type Write = (at: number, blend: number, list: readonly number[]) => void;

/** Returns a function that measures one part of the users. */
export function measurer(work: MeasureWork, scratch: Float32Array): (part: number) => void {
  const { test, users, blends, out } = work;
  const write: Write = (at, blend, list) => {
    const { recall20, ndcg20 } = measure(list, rowOf(test, users[at]));
    const place = (at * blends.length + blend) * 2;
    out[place] = recall20;
    out[place + 1] = ndcg20;
  };
  const measureUsers = work.byLength
    ? productMeasurer(work, work.byLength, scratch, write)
    : scoreMeasurer(work, scratch, write);
  return (part) =>
    measureUsers(
      Math.floor((users.length * part) / work.parts),
      Math.floor((users.length * (part + 1)) / work.parts),
    );
}

/** Measures users whose lists depend only on the dot products of vectors. */
function productMeasurer(
  work: MeasureWork,
  byLength: ItemsByLength,
  scratch: Float32Array,
  write: Write,
): (from: number, to: number) => void {
  const { users, excluded } = work;
  const bestOf = bestByProducts(work, byLength, scratch, CUTOFF);
  return (from, to) => {
    for (let at = from; at < to; at++) {
      const list = bestOf(users[at], rowOf(excluded, users[at])).sorted().items;
      for (let blend = 0; blend < work.blends.length; blend++) write(at, blend, list);
    }
  };
}

/** Measures users by the scores of all items, in batches. */
function scoreMeasurer(
  work: MeasureWork,
  scratch: Float32Array,
  write: Write,
): (from: number, to: number) => void {
  const { stride, users, train, excluded, userVectors, itemVectors } = work;
  const { items } = train;
  const kernel = kernelOn(work.memory);
  const [batch, length] = [usersAtOnce(items), paddedRows(items)];
  const rows = Math.max(4, Math.floor(CACHED_FLOATS / stride / 4) * 4);
  const listsOf = listMaker(work, scratch.subarray(batch * length));
  return (from, to) => {
    for (let begin = from; begin < to; begin += batch) {
      const end = Math.min(begin + batch, to);
      for (let row = 0; row < items; row += rows) {
        for (let at = begin; at < end; at++)
          kernel.scores(
            itemVectors.byteOffset + row * stride * 4,
            Math.min(rows, items - row),
            stride,
            userVectors.byteOffset + users[at] * stride * 4,
            scratch.byteOffset + ((at - begin) * length + row) * 4,
          );
      }
      for (let at = begin; at < end; at++) {
        const scores = scratch.subarray((at - begin) * length, (at - begin) * length + items);
        for (const item of rowOf(excluded, users[at])) scores[item] = Number.NEGATIVE_INFINITY;
        listsOf(users[at], scores).forEach((list, blend) => {
          write(at, blend, list);
        });
      }
    }
  };
}

/** Returns a function that returns the lists of a user, one for each blend. */
function listMaker(
  work: MeasureWork,
  memory: Float32Array,
): (user: number, scores: Float32Array) => readonly number[][] {
  const { train, blends } = work;
  const shown = work.exposure && shownBy(work, work.exposure);
  if (!work.neighbours) return (_, scores) => [shown?.(scores) ?? []];
  const exponents = work.neighbours;
  // All neighbours share the same work arrays, because only one of them computes at a time.
  const neighboursBy = [...new Set(blends.map((blend) => blend.similarityExponent))].map(
    (similarityExponent) => {
      const rule = { ...exponents, similarityExponent, scale: 1, popularityExponent: 0 };
      const neighbours = new Neighbours(train, rule, work.itemCounts, rowsIn(work, memory));
      return { similarityExponent, neighbours };
    },
  );
  const factorsBy = [...new Set(blends.map((blend) => blend.popularityExponent))].map(
    (popularityExponent) => ({
      popularityExponent,
      factors: Float32Array.from(work.itemCounts, (count) => power(count, popularityExponent)),
    }),
  );
  const neighbourScores = new Float32Array(train.items);
  const added = new Float32Array(train.items);
  return (user, scores) => {
    const lists: number[][] = [];
    for (const { similarityExponent, neighbours } of neighboursBy) {
      neighbourScores.fill(0);
      neighbours.add(neighbourScores, rowOf(train, user));
      for (const { popularityExponent, factors } of factorsBy) {
        for (let item = 0; item < added.length; item++) added[item] = neighbourScores[item] * factors[item];
        blends.forEach((blend, at) => {
          if (blend.popularityExponent !== popularityExponent) return;
          if (blend.similarityExponent !== similarityExponent) return;
          lists[at] = shown
            ? shown(scores.map((score, item) => score + blend.scale * added[item]))
            : topOfSums(scores, added, blend.scale);
        });
      }
    }
    return lists;
  };
}

function topOfSums(scores: Float32Array, added: Float32Array, scale: number): number[] {
  const top = new TopK(CUTOFF);
  for (let item = 0; item < scores.length; item++) {
    const sum = scores[item] + scale * added[item];
    if (sum > top.floor) top.add(item, sum);
  }
  return top.sorted().items;
}

/** Returns the total length of the work arrays of `Neighbours`, in floats. */
export function neighbourFloats(users: number, items: number): number {
  return 3 * users + 1 + 2 * paddedBlocks(items) + Math.ceil(paddedBlocks(items) / BLOCK / 4);
}

/**
 * Places the work arrays of `Neighbours` in the scratch memory of a thread. The rows are already in the kernel's
 * memory.
 */
function rowsIn({ memory, itemsOf, usersOf, train }: MeasureWork, floats: Float32Array): PlacedRows {
  const { users, items } = train;
  const padded = paddedBlocks(items);
  const sums = 3 * users + 1;
  const marked = sums + 2 * padded;
  const integers = (from: number, length: number) =>
    new Uint32Array(floats.buffer, floats.byteOffset + from * 4, length);
  return {
    run: kernelOn(memory),
    itemsOf,
    usersOf,
    similarity: floats.subarray(0, users).fill(0),
    touched: integers(users, users + 1),
    nearest: integers(2 * users + 1, users),
    sums: floats.subarray(sums, sums + padded).fill(0),
    factors: floats.subarray(sums + padded, marked),
    marked: new Uint8Array(floats.buffer, floats.byteOffset + marked * 4, padded / BLOCK).fill(0),
  };
}

/** Returns a function that lists the items that a user would be shown, with popularity penalty and diversity. */
export function shownBy(
  { itemCounts, itemVectors, stride }: Pick<MeasureWork, "itemCounts" | "itemVectors" | "stride">,
  { diversity, popularityPenalty }: ExposureRule,
) {
  const penalties = Float32Array.from(itemCounts, (users) => penaltyOf(users, popularityPenalty));
  const vectorOf = (item: number) => itemVectors.subarray(item * stride, (item + 1) * stride);
  return (scores: Float32Array) => {
    const penalizedScores = scores.map((score, item) => penalized(score, penalties[item]));
    return diversified(topIndices(penalizedScores, DIVERSIFIED), CUTOFF, diversity, vectorOf);
  };
}
