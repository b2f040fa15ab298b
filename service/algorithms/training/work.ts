import { DIVERSIFIED, diversified, type ExposureRule, penalized, penaltyOf } from "../exposure";
import type { Interactions } from "../interactions";
import { type KernelMemory, kernelOn } from "../kernel";
import { Neighbours } from "../neighbours";
import { topIndices } from "../top";
import { CUT, measure } from "./evaluation";

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
  /** The users of each item, and the exponents; null where neighbours do not count. */
  readonly neighbours: {
    readonly usersOf: Pick<Interactions, "start" | "index">;
    readonly exponents: {
      readonly damping: number;
      readonly itemExponent: number;
      readonly userExponent: number;
    };
  } | null;
  readonly blends: readonly Blend[];
  readonly exposure: ExposureRule | undefined;
  readonly itemCounts: Uint32Array;
  /** Recall and NDCG of each blend, user after user. */
  readonly out: Float64Array;
}

/** A step of a training. */
export type Work = GramWork | TurnWork | SolveWork | MeasureWork;

/** What carries out the parts of a step in the thread of this number. */
export function carryOut(work: Work, thread: number): (part: number) => void {
  const scratch = work.scratch[thread] as Float32Array;
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
        bounds[part] as number,
        bounds[part + 1] as number,
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

function measuring(work: MeasureWork, scratch: Float32Array): (part: number) => void {
  const { stride, train, test, users, blends, out, userVectors, itemVectors } = work;
  const kernel = kernelOn(work.memory);
  const scores = scratch.subarray(0, train.items);
  const said = work.neighbours && new Float32Array(train.items);
  const neighbours =
    work.neighbours &&
    new Neighbours(
      train,
      { ...work.neighbours.exponents, scale: 1, popularityExponent: 0 },
      work.itemCounts,
      work.neighbours.usersOf,
    );
  const factors = blends.map(({ scale, popularityExponent }) =>
    Float32Array.from(work.neighbours ? work.itemCounts : [], (count) =>
      count > 0 ? scale * count ** -popularityExponent : 0,
    ),
  );
  const blended = new Float32Array(train.items);
  const first = shownBy(work);
  return (part) => {
    const from = Math.floor((users.length * part) / work.parts);
    const to = Math.floor((users.length * (part + 1)) / work.parts);
    for (let at = from; at < to; at++) {
      const user = users[at] as number;
      const own = train.index.subarray(train.start[user], train.start[user + 1]);
      const had = work.had.index.subarray(work.had.start[user], work.had.start[user + 1]);
      const wanted = test.index.subarray(test.start[user], test.start[user + 1]);
      kernel.scores(
        itemVectors.byteOffset,
        train.items,
        stride,
        userVectors.byteOffset + user * stride * 4,
        scratch.byteOffset,
      );
      for (const item of had) scores[item] = Number.NEGATIVE_INFINITY;
      said?.fill(0);
      if (said) neighbours?.add(said, own);
      blends.forEach(({ scale }, blend) => {
        const all = said && scale > 0 ? blended : scores;
        if (said && scale > 0) addWeighted(blended, scores, said, factors[blend] as Float32Array);
        const { recall20, ndcg20 } = measure(first(all), wanted);
        const place = (at * blends.length + blend) * 2;
        out[place] = recall20;
        out[place + 1] = ndcg20;
      });
    }
  };
}

/** Finds the first items by their scores, as they would be shown. */
function shownBy({ exposure, itemCounts, itemVectors, stride }: MeasureWork) {
  if (!exposure) return (scores: Float32Array) => topIndices(scores, CUT);
  const { diversity, popularityPenalty } = exposure;
  const penalties = Float32Array.from(itemCounts, (users) => penaltyOf(users, popularityPenalty));
  const vectorOf = (item: number) => itemVectors.subarray(item * stride, (item + 1) * stride);
  return (scores: Float32Array) => {
    const shown = scores.map((score, item) => penalized(score, penalties[item] as number));
    return diversified(topIndices(shown, DIVERSIFIED), CUT, diversity, vectorOf);
  };
}

function addWeighted(to: Float32Array, scores: Float32Array, said: Float32Array, factor: Float32Array): void {
  for (let item = 0; item < to.length; item++)
    to[item] = (scores[item] as number) + (said[item] as number) * (factor[item] as number);
}
