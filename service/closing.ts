import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Clock } from "./base/clock";
import type { Context } from "./handlers/handler";

/** How long open calls may take to finish while the service closes. */
const closeGraceMs = 10_000;

/** Stops accepting calls, waits for the open ones, and disconnects those that take too long. */
export async function closeServer(app: FastifyInstance, clock: Clock): Promise<void> {
  const closed = new AbortController();
  void clock.wait(closeGraceMs, closed.signal).then(() => app.server.closeAllConnections());
  await app.close();
  closed.abort();
}

/**
 * Runs all steps in order. If a step fails, logs the error and continues, because the last steps release the data
 * directory.
 */
export async function runAll(steps: readonly (() => unknown)[], log: Logger): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      log.error({ err: error }, "a step of closing failed");
    }
  }
}

/** Closes the service after `idleMs` without a call or a job. */
export async function closeWhenIdle(
  { clock, closing, jobs, log }: Context,
  idleMs: number,
  lastUse: () => number,
  close: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const left = lastUse() + idleMs - clock.now();
    if (closing.aborted) return;
    if (left <= 0 && !jobs.busy) break;
    await clock.wait(left <= 0 ? idleMs : left, closing);
  }
  log.info("closing: idle");
  await close();
}
