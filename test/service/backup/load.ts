import type { Caller } from "../running";
import type { contentsOf } from "./contents";

const [batches, eventsPerBatch] = [20, 50];

/** The last acknowledged mark of each batch. */
type Marks = ReadonlyMap<number, number>;

/** Upserts the same batches of events until it is stopped, each time with a higher mark. */
export function underLoad(api: Caller, { eventDatasetId }: { eventDatasetId: string }) {
  const marks = new Map<number, number>();
  let ending = false;
  const work = (async () => {
    for (let mark = 1; !ending; mark++) {
      const batch = mark % batches;
      const events = Array.from({ length: eventsPerBatch }, (_, at) => ({
        ...{ eventId: `load ${batch} ${at}`, userId: `u${at}`, itemId: `i${at}` },
        ...{ ts: mark, eventType: "view" },
      }));
      await api.call("upsertDatasetEvents", { eventDatasetId, events });
      marks.set(batch, mark);
    }
  })();
  return {
    acknowledged: (): Marks => new Map(marks),
    /** Checks that a backup contains all acknowledged batches, and none of the later ones in part. */
    check: ({ events = [] }: Awaited<ReturnType<typeof contentsOf>>, before: Marks): void => {
      const found = new Map<number, number[]>();
      for (const row of events) {
        const { event_id, ts } = Object.fromEntries(JSON.parse(row)) as { event_id: string; ts: number };
        const [, batch] = /^load (\d+) /.exec(event_id) ?? [];
        if (batch !== undefined) found.set(Number(batch), [...(found.get(Number(batch)) ?? []), ts]);
      }
      for (const ts of found.values()) expect(ts).toEqual(Array(eventsPerBatch).fill(ts[0]));
      for (const [batch, mark] of before) expect(found.get(batch)?.[0]).toBeGreaterThanOrEqual(mark);
    },
    end: async () => {
      ending = true;
      await work;
    },
  };
}
