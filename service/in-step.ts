import type { Basis } from "./files/basis";
import { removeStaleCopies } from "./files/models";
import type { Context } from "./handlers/handler";
import { beatMs, type Processes } from "./store/processes";
import { hear } from "./store/signals";

/** Shows the other processes of a database that this one lives, until the service closes. */
export async function keepBeating({ clock, closing, log }: Basis, processes: Processes): Promise<void> {
  for (;;) {
    await processes
      .beat()
      .catch((error) =>
        log.error({ err: error }, "this process cannot show that it lives; trying again soon"),
      );
    await clock.wait(beatMs, closing);
    if (closing.aborted) return;
  }
}

/** Follows what the other processes of a database do, until the service closes: by their signals, and by looking. */
export function keepInStep(context: Context): void {
  const { store, jobs, serving, closing, log, role } = context;
  const sync = async () => {
    if (role === "worker") return;
    await serving
      .sync()
      .catch((error) => log.error({ err: error }, "deployments cannot be read; trying again soon"));
  };
  void hear(store.place, closing, {
    jobs: () => {
      if (role !== "api") jobs.wake();
    },
    deployments: () => void sync(),
  });
  if (role !== "api") void jobs.holdLeases();
  void (async () => {
    for (;;) {
      await context.clock.wait(beatMs, closing);
      if (closing.aborted) return;
      // In case a signal was lost.
      await sync();
      await serving
        .forgetForgotten()
        .then(() => removeStaleCopies(context))
        .catch((error) => log.error({ err: error }, "forgotten users stay in memory; trying again soon"));
      context.pool.check();
    }
  })();
}
