import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Clock } from "./base/clock";
import type { Context } from "./handlers/handler";

/** How long calls may go on while the service closes. */
const closeGraceMs = 10_000;

/** Takes no more calls, lets those under way end, and cuts off those that take too long. */
export async function closeServer(app: FastifyInstance, clock: Clock): Promise<void> {
  const closed = new AbortController();
  void clock.wait(closeGraceMs, closed.signal).then(() => app.server.closeAllConnections());
  await app.close();
  closed.abort();
}

/** Takes all steps in order, whatever becomes of one of them: the folder must be free in the end. */
export async function closeAll(steps: readonly (() => unknown)[], log: Logger): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      log.error({ err: error }, "closing goes on after an error");
    }
  }
}

/** Closes the service once nobody has used it and no job has run for so long. */
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
