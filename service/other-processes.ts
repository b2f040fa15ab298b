import { removeStaleCopies } from "./files/models";
import type { ServiceContext } from "./files/service-context";
import type { Context } from "./handlers/handler";
import { beatMs, type Processes } from "./store/processes";
import { listen } from "./store/signals";

/** Writes the heartbeat of this process to the database at intervals, until the service closes. */
export async function sendHeartbeats(
  { clock, closing, log }: ServiceContext,
  processes: Processes,
): Promise<void> {
  for (;;) {
    await processes
      .beat()
      .catch((error) => log.error({ err: error }, "cannot write the heartbeat; trying again soon"));
    await clock.wait(beatMs, closing);
    if (closing.aborted) return;
  }
}

/** Reacts to new jobs, deployments and deletions of other processes until the service closes. */
export function followOtherProcesses(context: Context): void {
  const { store, jobs, serving, closing, log, role } = context;
  const sync = async () => {
    if (role === "worker") return;
    await serving
      .sync()
      .catch((error) => log.error({ err: error }, "cannot read the deployments; trying again soon"));
  };
  void listen(store.location, closing, {
    jobs: () => {
      if (role !== "api") jobs.wake();
    },
    deployments: () => void sync(),
  });
  if (role !== "api") void jobs.renewLeases();
  void (async () => {
    for (;;) {
      await context.clock.wait(beatMs, closing);
      if (closing.aborted) return;
      // A signal may have been lost.
      await sync();
      await serving
        .forgetForgotten()
        .then(() => removeStaleCopies(context))
        .catch((error) =>
          log.error({ err: error }, "cannot remove forgotten users from memory; trying again soon"),
        );
      context.pool.check();
    }
  })();
}
