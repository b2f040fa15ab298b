import type { Clock } from "../clock";
import { delayMs, type Failure, type RetryPolicy } from "./retry";

/** How something is tried again. */
interface ReadRetry {
  readonly clock: Clock;
  readonly policy: RetryPolicy;
  readonly random: () => number;
  /** Ends the pauses. */
  readonly stop: AbortSignal | undefined;
  failureOf(error: Error): Failure;
  /** Time from the first attempt after which no further attempt begins. */
  budgetOf(failure: Failure): number;
  /** The error if the time is up. */
  givenUp(error: Error, attempts: number, spentMs: number): Error;
}

/** Tries something that only reads until it succeeds, fails for good, or has failed for too long. */
export async function retryRead<T>(work: () => Promise<T>, how: ReadRetry): Promise<T> {
  const began = how.clock.now();
  for (let attempt = 0; ; attempt++) {
    const outcome = await work().then(
      (value) => ({ value }),
      (thrown: Error) => how.failureOf(thrown),
    );
    if ("value" in outcome) return outcome.value;
    if (!outcome.transient) throw outcome.error;
    const delay = delayMs(how.policy, attempt, outcome, how.random);
    const spent = how.clock.now() - began;
    if (spent + delay > how.budgetOf(outcome)) throw how.givenUp(outcome.error, attempt + 1, spent);
    await how.clock.sleep(delay, how.stop);
  }
}
