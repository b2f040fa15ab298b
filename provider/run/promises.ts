/** Returns the promise stored under a key, or stores the promise that `make` returns. A rejected promise is removed. */
export function sharedPromise<Key, T>(
  promises: Map<Key, Promise<T>>,
  key: Key,
  make: () => Promise<T>,
): Promise<T> {
  const known = promises.get(key);
  if (known) return known;
  const made = make();
  made.catch(() => promises.delete(key));
  promises.set(key, made);
  return made;
}

/** Runs `work` after all earlier work with the same key has ended, even if that work failed. */
export function queued<T>(
  queues: Map<string, Promise<unknown>>,
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  const queue = (queues.get(key) ?? Promise.resolve()).then(work);
  queues.set(
    key,
    queue.catch(() => undefined),
  );
  return queue;
}
