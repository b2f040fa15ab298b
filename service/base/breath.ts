/** How long one call may hold the thread before others get a turn. */
const holdMs = 5;

/** Creates a function that lets other calls run if this one has held the thread for a while. */
export function breather(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < holdMs) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}
