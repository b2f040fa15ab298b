/** Returns the stored promise of a key, or stores the promise of `make`. A rejected promise is not kept. */
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

/** Runs the work of each key one after the other, even if earlier work of the key has failed. */
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
