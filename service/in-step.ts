import type { Context } from "./handlers/handler";
import { beatMs, type Processes } from "./store/processes";
import { hear } from "./store/signals";

/** Works together with the other processes of a database until the service closes: hears what they tell, and shows that it lives. */
export function keepInStep(context: Context, processes: Processes): void {
  const { store, jobs, serving, closing, log, role } = context;
  const tryTo = (what: string, work: () => Promise<unknown>) =>
    work().catch((error) => log.error({ err: error }, `${what}; trying again soon`));
  const sync = async () => {
    if (role !== "worker") await tryTo("deployments cannot be read", () => serving.sync());
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
      await tryTo("this process cannot show that it lives", () => processes.beat());
      // In case a signal was lost.
      await sync();
      context.pool.check();
    }
  })();
}
