import type { Store } from "../store/database";
import type { Pool } from "./pool";

interface WithLog {
  readonly store: Store;
  readonly pool: Pool;
}

const running = new WeakMap<Store, Promise<boolean>>();

/**
 * Empties the log of an embedded database, in a thread: to copy a long log takes hundreds of milliseconds. Writes wait
 * only for the last few pages; nothing else waits. Callers wait for each other.
 * @returns false if a reader kept it from ending; whatever is left goes the next time.
 */
export function emptyLog(context: WithLog): Promise<boolean> {
  const before = running.get(context.store) ?? Promise.resolve(true);
  const own = before.catch(() => false).then(() => empty(context));
  running.set(context.store, own);
  return own;
}

async function empty({ store, pool }: WithLog): Promise<boolean> {
  if (store.shared) return true;
  await pool.run({ kind: "COPY_LOG" });
  return store.holdWrites(() => pool.run({ kind: "SCRUB" }));
}
