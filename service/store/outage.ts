import { isOutage } from "./postgres-errors";

/** Does work again after each outage of the database, so that what took hours to compute is not thrown away. */
export async function outlast<T>(
  work: (tries: number) => Promise<T>,
  /** Waits before the next try. @returns whether there is to be one */
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
