import type { Dispatcher } from "undici";
import { z } from "zod";
import type { Route } from "../contract";

const health = z.object({ extensions: z.array(z.string()) });

/** Thrown before anything is sent if the service lacks an operation that the specification does not have. */
export class UnsupportedError extends Error {
  constructor({ path }: Route, baseUrl: string) {
    super(`The service at ${baseUrl} does not offer ${path}, which goes beyond the specification.`);
    this.name = "UnsupportedError";
  }
}

/**
 * The paths of the operations beyond the specification that a service lists in its `/healthz`: none if it has no such
 * page or something else answers there.
 */
export async function extensionsAt(baseUrl: string, dispatcher: Dispatcher): Promise<ReadonlySet<string>> {
  const { origin, pathname } = new URL(`${baseUrl}/healthz`);
  const answer = await dispatcher.request({ origin, path: pathname, method: "GET" });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) return new Set();
  try {
    return new Set(health.parse(JSON.parse(text)).extensions);
  } catch {
    return new Set();
  }
}
