import { carryOut, type Work } from "./work";

/** Threads that carry out the parts of a step together. What comes of a step does not depend on their number. */
export interface Team {
  readonly size: number;
  /** Carries out a step, and returns when all of its parts are done. */
  run(work: Work): void;
}

/** A team of the one thread that asks. */
export const alone: Team = {
  size: 1,
  run: (work) => {
    const part = carryOut(work, 0);
    for (let at = 0; at < work.parts; at++) part(at);
  },
};

/** The same numbers where all threads see them. */
export function shared<T extends Uint32Array | Float32Array>(array: T): T {
  const make = array.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new make(new SharedArrayBuffer(array.byteLength));
  copy.set(array);
  return copy;
}
