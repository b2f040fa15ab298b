/** How long one call may block the event loop. */
const blockMs = 5;

/** Creates a function to call in long loops. It lets other calls run after the loop has blocked them for 5 ms. */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < blockMs) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}
