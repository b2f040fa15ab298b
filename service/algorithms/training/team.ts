import { partRunner } from "./part-runner";
import type { Work } from "./work";

/** Threads that run the parts of a step together. The result does not depend on the number of threads. */
export interface Team {
  readonly size: number;
  /** Runs a step, and returns when all of its parts are complete. */
  run(work: Work): void;
}

/** A team that consists only of the calling thread. */
export const singleThread: Team = {
  size: 1,
  run: (work) => {
    const runPart = partRunner(work, 0);
    for (let part = 0; part < work.parts; part++) runPart(part);
  },
};

/** Copies an array to memory that all threads can read. */
export function toShared<T extends Uint32Array | Float32Array>(array: T): T {
  const ArrayType = array.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new ArrayType(new SharedArrayBuffer(array.byteLength));
  copy.set(array);
  return copy;
}
