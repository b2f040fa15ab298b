import type { Dispatcher } from "undici";
import { z } from "zod";
import type { Route } from "../contract";
import { ApiError, TokenError } from "./errors";

const health = z.object({ extensions: z.array(z.string()) });

/** Thrown before anything is sent if the service lacks an operation that the specification does not have. */
export class UnsupportedError extends Error {
  constructor({ path }: Route, baseUrl: string) {
    super(`The service at ${baseUrl} does not offer ${path}, which goes beyond the specification.`);
    this.name = "UnsupportedError";
  }
}

/** Statuses that say nothing about the service: it is overloaded, or the gateway before it has lost it. */
const passing = [429, 502, 503, 504];

/**
 * The paths of the operations beyond the specification that a service lists in its `/healthz`: none if it has no such
 * page or something else answers there.
 */
export async function fetchExtensions(baseUrl: string, dispatcher: Dispatcher): Promise<ReadonlySet<string>> {
  const { origin, pathname } = new URL(`${baseUrl}/healthz`);
  const answer = await dispatcher.request({ origin, path: pathname, method: "GET" });
  const text = await answer.body.text();
  const status = answer.statusCode;
  if (passing.includes(status))
    throw new ApiError({ method: "GET", path: "/healthz" }, { status, message: "not available now" });
  if (status !== 200) return new Set();
  try {
    return new Set(health.parse(JSON.parse(text)).extensions);
  } catch {
    return new Set();
  }
}

/** Whether this caller may use an operation: the service has it and gives a token for its scope. */
export async function isOffered(
  client: { supports(route: Route): Promise<boolean>; getToken(route: Route): Promise<void> },
  route: Route,
): Promise<boolean> {
  if (!(await client.supports(route))) return false;
  try {
    await client.getToken(route);
    return true;
  } catch (error) {
    if (error instanceof TokenError && error.refusal === "scope") return false;
    throw error;
  }
}
