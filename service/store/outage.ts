import { isOutage } from "./postgres-errors";

/** Retries `work` after an outage of the database or the storage, to keep results that took hours to compute. */
export async function retryOutages<T>(
  work: (tries: number) => Promise<T>,
  /** Waits before the next try. @returns false to give up */
  pause: (error: unknown) => Promise<boolean>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work(tries);
    } catch (error) {
      if (!isOutage(error) || !(await pause(error))) throw error;
    }
  }
}
