import type { StartOptions } from "../../../service";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { openShop } from "../shop";

/** A shop whose service has a manual clock, and a second connection to its database. */
export async function openWatched(options: StartOptions = {}) {
  const clock = new ManualClock();
  const api = await Running.start({ clock, faults: true, ...options });
  const shop = await openShop(api);
  const { projectId, algorithmId } = shop;
  return {
    api,
    clock,
    shop,
    submit: async (name: string) =>
      (await api.call("submitTrainingJob", { projectId, algorithmId, name })).jobId,
    read: (jobId: string) => api.call("getJob", { projectId, jobId }),
    switchOn: (faults: object) =>
      api.raw("/faults", {
        method: "PUT",
        headers: { apikey: api.service.key, "content-type": "application/json" },
        body: JSON.stringify(faults),
      }),
    threads: async () =>
      (await api.raw("/status", { headers: { apikey: api.service.key } })).body.threads as number,
    end: () => api.end(),
  };
}

/** Polls a condition until it is true. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Waits until pending promises and I/O callbacks have run. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 200));
