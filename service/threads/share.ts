/** The threads that all trainings of a process may use together, and how many trainings there are now. */
export interface Share {
  readonly threads: number;
  /** One number that all threads see. */
  readonly trainings: Int32Array;
}

/** So many threads, for one training until others are counted. */
export function shareOf(threads: number): Share {
  return { threads, trainings: new Int32Array(new SharedArrayBuffer(4)).fill(1) };
}

/** How many threads each training may use at this moment: one that is alone all of them, and never less than one. */
export function partOf({ threads, trainings }: Share): number {
  return Math.max(1, Math.floor(threads / Math.max(1, Atomics.load(trainings, 0))));
}
