import { DIVERSIFIED, diversified, type ExposureRule, penalized, penaltyOf } from "../exposure";
import { type Interactions, rowOf } from "../interactions";
import { type KernelMemory, kernelOn, paddedRows } from "../kernel";
import { type NeighbourRule, Neighbours, type PlacedRows, power } from "../neighbours";
import { TopK, topIndices } from "../top";
import { CUTOFF, measure } from "./evaluation";
import { firstOfProducts, type ItemsByLength } from "./products";

/** Users or items with what they are solved from; all arrays lie in the kernel's memory. */
export interface Side {
  readonly rows: number;
  readonly start: Uint32Array;
  readonly index: Uint32Array;
  readonly weight: Float32Array;
  readonly vectors: Float32Array;
  readonly ridge: Float32Array;
}

/** Rows that the kernel gathers at a time. */
export const CHUNK = 64;

/** What all steps have: parts that do not depend on each other, and room for each thread. */
interface Step {
  readonly memory: KernelMemory;
  readonly stride: number;
  readonly parts: number;
  /** Multiplications, roughly: few are not worth another thread. */
  readonly size: number;
  /** One array for each thread. */
  readonly scratch: readonly Float32Array[];
}

/** Adds up the gram matrix of the vectors, that of each part for itself. */
export interface GramWork extends Step {
  readonly kind: "gram";
  readonly of: Pick<Side, "vectors" | "rows">;
  /** One after another. */
  readonly grams: Float32Array;
}

/** Multiplies all vectors by a matrix. */
export interface TurnWork extends Step {
  readonly kind: "turn";
  readonly of: Pick<Side, "vectors" | "rows">;
  readonly matrix: Float32Array;
}

/** Solves all rows of one side against the other. */
export interface SolveWork extends Step {
  readonly kind: "solve";
  readonly solved: Side;
  readonly fixed: Float32Array;
  readonly base: Float32Array;
  /** What the fixed side was multiplied by since the rows were solved before. */
  readonly matrix: Float32Array;
  /** Where parts begin, and the last one ends. */
  readonly bounds: Uint32Array;
  readonly steps: number;
}

/** One way to let neighbours count. */
export interface Blend {
  readonly scale: number;
  readonly popularityExponent: number;
}

/** Measures what vectors, with neighbours blended in, find of the items held out. */
export interface MeasureWork extends Step {
  readonly kind: "measure";
  readonly userVectors: Float32Array;
  readonly itemVectors: Float32Array;
  readonly train: Interactions;
  /** What is not recommended again. */
  readonly had: Pick<Interactions, "start" | "index">;
  readonly test: Pick<Interactions, "start" | "index">;
  readonly users: Uint32Array;
  /** The rows of the vectors' two sides. */
  readonly itemsOf: Pick<Interactions, "start" | "index">;
  readonly usersOf: Pick<Interactions, "start" | "index">;
  /** How neighbours count, null where they do not. */
  readonly neighbours: Omit<NeighbourRule, "scale" | "popularityExponent"> | null;
  readonly blends: readonly Blend[];
  readonly exposure: ExposureRule | undefined;
  /** Where the products of the vectors alone count. */
  readonly byLength: ItemsByLength | null;
  readonly itemCounts: Uint32Array;
  /** Recall and NDCG of each blend, user after user. */
  readonly out: Float64Array;
}

/** A step of a training. */
export type Work = GramWork | TurnWork | SolveWork | MeasureWork;

/** What carries out the parts of a step in the thread of this number. */
export function carryOut(work: Work, thread: number): (part: number) => void {
  const scratch = work.scratch[thread];
  if (work.kind === "measure") return measuring(work, scratch);
  const { memory, stride, parts } = work;
  const kernel = kernelOn(memory);
  if (work.kind === "solve") {
    const { solved, fixed, base, matrix, bounds, steps } = work;
    return (part) =>
      kernel.solveRows(
        solved.start.byteOffset,
        solved.index.byteOffset,
        solved.weight.byteOffset,
        0,
        bounds[part],
        bounds[part + 1],
        solved.vectors.byteOffset,
        fixed.byteOffset,
        stride,
        base.byteOffset,
        solved.ridge.byteOffset,
        scratch.byteOffset,
        CHUNK,
        steps,
        matrix.byteOffset,
      );
  }
  const { rows, vectors } = work.of;
  const rowOf = (part: number) => Math.floor((rows * part) / parts);
  return (part) => {
    const [from, to] = [rowOf(part), rowOf(part + 1)];
    const at = vectors.byteOffset + from * stride * 4;
    if (work.kind === "gram")
      kernel.addGram(at, to - from, stride, work.grams.byteOffset + part * stride * stride * 4);
    else kernel.rotate(at, to - from, stride, work.matrix.byteOffset, scratch.byteOffset);
  };
}

/** Users whose scores are found together, as many as there is room for: what is read of the items serves all of them. */
export function usersAtOnce(items: number): number {
  return Math.max(1, Math.min(8, Math.floor(2 ** 20 / items)));
}

/** Floats of item vectors that stay in the cache while the users of a batch are multiplied with them. */
const CACHED_FLOATS = 2 ** 14;

function measuring(work: MeasureWork, scratch: Float32Array): (part: number) => void {
  const { stride, train, test, users, blends, out, userVectors, itemVectors } = work;
  const { items } = train;
  const kernel = kernelOn(work.memory);
  const [batch, room] = [usersAtOnce(items), paddedRows(items)];
  const rows = Math.max(4, Math.floor(CACHED_FLOATS / stride / 4) * 4);
  const said = work.neighbours && new Float32Array(items);
  const neighbours =
    work.neighbours &&
    new Neighbours(
      train,
      { ...work.neighbours, scale: 1, popularityExponent: 0 },
      work.itemCounts,
      placedIn(work, scratch.subarray(batch * room)),
    );
  const note = (at: number, blend: number, list: readonly number[]) => {
    const { recall20, ndcg20 } = measure(list, rowOf(test, users[at]));
    const place = (at * blends.length + blend) * 2;
    out[place] = recall20;
    out[place + 1] = ndcg20;
  };
  if (work.byLength) {
    const firstOf = firstOfProducts(work, work.byLength, scratch, CUTOFF);
    return (part) => {
      const to = Math.floor((users.length * (part + 1)) / work.parts);
      for (let at = Math.floor((users.length * part) / work.parts); at < to; at++) {
        const list = firstOf(users[at], rowOf(work.had, users[at])).sorted().items;
        for (let blend = 0; blend < blends.length; blend++) note(at, blend, list);
      }
    };
  }
  const shown = work.exposure && shownBy(work, work.exposure);
  const firstOf = said ? firstOfBlends(work, said, shown) : (scores: Float32Array) => [shown?.(scores) ?? []];
  const measureUser = (at: number, scores: Float32Array) => {
    const user = users[at];
    for (const item of rowOf(work.had, user)) scores[item] = Number.NEGATIVE_INFINITY;
    said?.fill(0);
    if (said) neighbours?.add(said, rowOf(train, user));
    firstOf(scores).forEach((list, blend) => {
      note(at, blend, list);
    });
  };
  return (part) => {
    const from = Math.floor((users.length * part) / work.parts);
    const to = Math.floor((users.length * (part + 1)) / work.parts);
    for (let begin = from; begin < to; begin += batch) {
      const end = Math.min(begin + batch, to);
      for (let row = 0; row < items; row += rows) {
        for (let at = begin; at < end; at++)
          kernel.scores(
            itemVectors.byteOffset + row * stride * 4,
            Math.min(rows, items - row),
            stride,
            userVectors.byteOffset + users[at] * stride * 4,
            scratch.byteOffset + ((at - begin) * room + row) * 4,
          );
      }
      for (let at = begin; at < end; at++)
        measureUser(at, scratch.subarray((at - begin) * room, (at - begin) * room + items));
    }
  };
}

/** Floats that neighbours are reckoned in. */
export function neighbourRoom(users: number, items: number): number {
  return 3 * users + 1 + items;
}

/** The rows as they lie beside the vectors, with room of the thread's own. */
function placedIn({ memory, itemsOf, usersOf, train }: MeasureWork, room: Float32Array): PlacedRows {
  const { users, items } = train;
  const integers = (from: number, length: number) =>
    new Uint32Array(room.buffer, room.byteOffset + from * 4, length);
  return {
    ...{ run: kernelOn(memory), itemsOf, usersOf, nearness: room.subarray(0, users).fill(0) },
    ...{ met: integers(users, users + 1), kept: integers(2 * users + 1, users) },
    said: room.subarray(3 * users + 1, neighbourRoom(users, items)),
  };
}

/** Finds the first items with each way to blend in what neighbours have said. */
function firstOfBlends(
  work: MeasureWork,
  said: Float32Array,
  shown: ((scores: Float32Array) => number[]) | undefined,
): (scores: Float32Array) => number[][] {
  const exponents = [...new Set(work.blends.map(({ popularityExponent }) => popularityExponent))];
  const factors = exponents.map((exponent) =>
    Float32Array.from(work.itemCounts, (count) => power(count, exponent)),
  );
  const adds = new Float32Array(work.train.items);
  return (scores) => {
    const lists: number[][] = [];
    factors.forEach((factor, which) => {
      multiply(said, factor, adds);
      work.blends.forEach(({ scale, popularityExponent }, blend) => {
        if (popularityExponent !== exponents[which]) return;
        lists[blend] = shown
          ? shown(scores.map((score, item) => score + scale * adds[item]))
          : topOfSums(scores, adds, scale);
      });
    });
    return lists;
  };
}

function topOfSums(own: Float32Array, adds: Float32Array, scale: number): number[] {
  const top = new TopK(CUTOFF);
  for (let item = 0; item < own.length; item++) {
    const sum = own[item] + scale * adds[item];
    if (sum > top.floor) top.add(item, sum);
  }
  return top.sorted().items;
}

function multiply(a: Float32Array, b: Float32Array, to: Float32Array): void {
  for (let at = 0; at < to.length; at++) to[at] = a[at] * b[at];
}

/** Finds the first items by their scores, as they would be shown. */
function shownBy(
  { itemCounts, itemVectors, stride }: MeasureWork,
  { diversity, popularityPenalty }: ExposureRule,
) {
  const penalties = Float32Array.from(itemCounts, (users) => penaltyOf(users, popularityPenalty));
  const vectorOf = (item: number) => itemVectors.subarray(item * stride, (item + 1) * stride);
  return (scores: Float32Array) => {
    const shown = scores.map((score, item) => penalized(score, penalties[item]));
    return diversified(topIndices(shown, DIVERSIFIED), CUTOFF, diversity, vectorOf);
  };
}
