import type { Readable } from "node:stream";

/** Number of bytes to hold before the connection is paused. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Reads the chunks of a response. If the connection breaks, first returns all chunks that have arrived: iterating over
 * the stream would drop them, and a download that continues would request them again. Call it as soon as the response
 * arrives, or the connection may break before anything listens.
 */
export function bodyChunks(body: Readable): AsyncIterable<Buffer> {
  const arrived: Buffer[] = [];
  let held = 0;
  let hasEnded = false;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  const end = (error?: Error) => {
    hasEnded = true;
    failure ??= error;
    wake();
  };
  body.on("data", (chunk: Buffer) => {
    arrived.push(chunk);
    held += chunk.length;
    if (held > maxBytes) body.pause();
    wake();
  });
  body.once("end", () => end()).once("error", end);
  body.once("close", () => end(hasEnded ? undefined : new Error("the connection was closed")));
  if (body.destroyed) end(body.errored ?? new Error("the connection was closed"));
  const read = async function* () {
    for (;;) {
      for (let chunk = arrived.shift(); chunk; chunk = arrived.shift()) {
        held -= chunk.length;
        if (held <= maxBytes && body.isPaused()) body.resume();
        yield chunk;
      }
      if (failure) throw failure;
      if (hasEnded) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return read();
}
