import type { Dispatcher } from "undici";
import { z } from "zod";
import type { Route } from "../contract";
import { ApiError, TokenError } from "./errors";

const health = z.object({ extensions: z.array(z.string()) });

/** The service does not have an operation that is not in the specification. Nothing was sent. */
export class UnsupportedError extends Error {
  constructor({ path }: Route, baseUrl: string) {
    super(`The service at ${baseUrl} does not support ${path}, which is not part of the specification.`);
    this.name = "UnsupportedError";
  }
}

/** Statuses of an overloaded service, or of a gateway that cannot reach it. They say nothing about extensions. */
const transientStatuses = [429, 502, 503, 504];

/**
 * Reads the paths of the extensions that a service lists in `/healthz`. Returns an empty set if the service has no such
 * page or the page has another format.
 */
export async function fetchExtensions(baseUrl: string, dispatcher: Dispatcher): Promise<ReadonlySet<string>> {
  const { origin, pathname } = new URL(`${baseUrl}/healthz`);
  const response = await dispatcher.request({ origin, path: pathname, method: "GET" });
  const text = await response.body.text();
  const status = response.statusCode;
  if (transientStatuses.includes(status))
    throw new ApiError({ method: "GET", path: "/healthz" }, { status, message: "temporarily unavailable" });
  if (status !== 200) return new Set();
  try {
    return new Set(health.parse(JSON.parse(text)).extensions);
  } catch {
    return new Set();
  }
}

/** Whether this caller can use an operation: the service has it, and the credentials have its scope. */
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
