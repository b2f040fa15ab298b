import type { Store } from "../store/database";
import type { Pool } from "./pool";

interface LogContext {
  readonly store: Store;
  readonly pool: Pool;
}

const running = new WeakMap<Store, Promise<boolean>>();

/**
 * Empties the write-ahead log of an embedded database. A thread does this, because copying a long log takes hundreds of
 * milliseconds. Writes wait only while the last few pages are copied. Concurrent callers take turns.
 * @returns false if a reader prevented it. The next call tries again.
 */
export function emptyLog(context: LogContext): Promise<boolean> {
  const before = running.get(context.store) ?? Promise.resolve(true);
  const next = before.catch(() => false).then(() => empty(context));
  running.set(context.store, next);
  return next;
}

async function empty({ store, pool }: LogContext): Promise<boolean> {
  if (store.isShared) return true;
  await pool.run({ kind: "COPY_LOG" });
  return store.holdWrites(() => pool.run({ kind: "SCRUB" }));
}
