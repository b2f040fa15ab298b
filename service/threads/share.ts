/** Number of threads that all trainings of a process share, and number of running trainings. */
export interface Share {
  readonly threads: number;
  /** One number in shared memory. */
  readonly trainings: Int32Array;
}

/** Creates a `Share` with one running training. */
export function shareOf(threads: number): Share {
  return { threads, trainings: new Int32Array(new SharedArrayBuffer(4)).fill(1) };
}

/** Returns how many threads each training may use at this moment, at least one. */
export function threadsPerTraining({ threads, trainings }: Share): number {
  return Math.max(1, Math.floor(threads / Math.max(1, Atomics.load(trainings, 0))));
}
