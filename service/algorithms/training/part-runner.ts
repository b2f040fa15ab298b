import { kernelOn } from "../kernel";
import { measurer } from "./measuring";
import { CHUNK, type GramWork, type RotateWork, type SolveWork, type Work } from "./work";

/** Returns a function that runs one part of a step in the given thread. */
export function partRunner(work: Work, thread: number): (part: number) => void {
  const scratch = work.scratch[thread];
  if (work.kind === "measure") return measurer(work, scratch);
  if (work.kind === "solve") return solver(work, scratch);
  return multiplier(work, scratch);
}

function solver(work: SolveWork, scratch: Float32Array): (part: number) => void {
  const { solved, fixed, base, matrix, bounds, steps, stride } = work;
  const kernel = kernelOn(work.memory);
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

function multiplier(work: GramWork | RotateWork, scratch: Float32Array): (part: number) => void {
  const { stride, parts } = work;
  const { rows, vectors } = work.of;
  const kernel = kernelOn(work.memory);
  const firstRow = (part: number) => Math.floor((rows * part) / parts);
  return (part) => {
    const [from, to] = [firstRow(part), firstRow(part + 1)];
    const at = vectors.byteOffset + from * stride * 4;
    if (work.kind === "gram")
      kernel.addGram(at, to - from, stride, work.grams.byteOffset + part * stride * stride * 4);
    else kernel.rotate(at, to - from, stride, work.matrix.byteOffset, scratch.byteOffset);
  };
}
