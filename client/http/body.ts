import type { Dispatcher } from "undici";

/** Time to read a response body. */
export const defaultBodyMs = 60_000;

/** Far more than a service ever sends. Without a limit, a body that never ends would use up the memory. */
const maxBodyBytes = 256 * 1024 * 1024;

/** Reads a body with a time limit. The agent's own limit applies only to the time between two chunks. */
export async function readBody(
  { body }: Dispatcher.ResponseData,
  limitMs: number,
  maxBytes = maxBodyBytes,
): Promise<string> {
  const timer = setTimeout(
    () => body.destroy(new Error(`the response body took longer than ${limitMs} ms`)),
    limitMs,
  );
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`the response body has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
