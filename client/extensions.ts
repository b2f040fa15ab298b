import type { Dispatcher } from "undici";
import { z } from "zod";
import { idempotencyHeader, type Route, wireName } from "../contract";
import { ApiError, isOutage, TokenError } from "./errors";
import { readBody } from "./http/body";
import { readErrorBody } from "./http/error-body";
import { budgetMs, connectionFailure, type Failure, type RetryPolicy } from "./http/retry";
import { parseJson } from "./parse";

const healthPath = "/healthz";
const health = z.object({ extensions: z.array(z.string()) });

/**
 * The service does not support an operation, or fields of a request, that extend the specification. The call was not
 * sent.
 */
export class UnsupportedError extends Error {
  /** @param fix what a user can do, as the end of the sentence */
  constructor({ path }: Route, baseUrl: string, fields: readonly string[] = [], fix?: string) {
    const [what, is] =
      fields.length > 0
        ? [`${fields.map(wireName).join(", ")} in ${path}`, fields.length > 1 ? "are" : "is"]
        : [path, "is"];
    const end = fix === undefined ? "" : `; ${fix}`;
    super(
      `The service at ${baseUrl} does not support ${what}, which ${is} not part of the specification${end}.`,
    );
    this.name = "UnsupportedError";
  }
}

/** Throws if the service does not support an operation, or one of the fields that a call uses. */
export async function requireSupport(
  client: { readonly baseUrl: string; supports(route: Route, field?: string): Promise<boolean> },
  route: Route,
  input: unknown,
): Promise<void> {
  if (!(await client.supports(route))) throw new UnsupportedError(route, client.baseUrl);
  const given = new Map(Object.entries(input ?? {}));
  const missing: string[] = [];
  for (const field of route.extensionFields ?? [])
    if ((given.get(field) ?? null) !== null && !(await client.supports(route, field))) missing.push(field);
  if (missing.length > 0) throw new UnsupportedError(route, client.baseUrl, missing);
}

/**
 * Reads the paths of the extensions that a service lists in `/healthz`. Returns an empty set if the service has no such
 * page or the page has another format. Throws if a gateway may have sent the page in place of the service.
 *
 * @param mayHaveExtensions whether the service may list extensions, judged by its other responses
 */
export async function fetchExtensions(
  baseUrl: string,
  dispatcher: Dispatcher,
  bodyMs: number,
  mayHaveExtensions: () => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  const { origin, pathname } = new URL(`${baseUrl}${healthPath}`);
  const response = await dispatcher.request({ origin, path: pathname, method: "GET" });
  const text = await readBody(response, bodyMs);
  const status = response.statusCode;
  const body = status === 200 ? parseJson(text) : undefined;
  if (typeof body === "object" && body !== null) return new Set(health.safeParse(body).data?.extensions);
  const isUnavailable = status >= 500 || [408, 425, 429].includes(status);
  // Gateways do not send this header, so the response comes from the service itself, which has no such page.
  const isOwn = response.headers[idempotencyHeader] !== undefined;
  if (!isUnavailable && (isOwn || !(await mayHaveExtensions()))) return new Set();
  const { message } = readErrorBody(text);
  const hint = `; it is unknown whether the service sent this. Check that ${origin} is its address and forwards ${pathname} to it.`;
  const error = { status, message, isRecognised: isUnavailable };
  throw new ApiError({ method: "GET", path: healthPath }, error, isUnavailable ? "" : hint);
}

/**
 * Whether an error means that `/healthz` could not be read. Such an error concerns all resources, not only the one
 * whose call failed.
 */
export function isHealthError(error: unknown): boolean {
  return error instanceof ApiError && error.path === healthPath;
}

/** Returns how long to retry reading `/healthz`. An unavailable service gets more time than the page of a gateway. */
export function healthBudgetMs(policy: RetryPolicy, failure: Failure, hasResponded: boolean): number {
  const budget = budgetMs(policy, failure, hasResponded);
  const { error } = failure;
  return error instanceof ApiError && !error.isRecognised ? Math.min(budget, policy.foreignMs) : budget;
}

/**
 * Decides whether to retry reading `/healthz`. A page that the service did not send may be temporary, so any status is
 * retried.
 */
export function healthFailure(route: Route, origin: string, error: Error): Failure {
  if (error instanceof ApiError) return { error, transient: true, mayHaveRun: false };
  // No retry, because the call in `mayHaveExtensions` that caused these errors was already retried.
  if (isOutage(error) || error instanceof TokenError) return { error, transient: false, mayHaveRun: false };
  return connectionFailure(route, origin, error);
}

/** Whether the credentials have the scope of an operation. */
export async function isGranted(
  client: { getToken(route: Route): Promise<void> },
  route: Route,
): Promise<boolean> {
  try {
    await client.getToken(route);
    return true;
  } catch (error) {
    if (error instanceof TokenError && error.refusal === "scope") return false;
    throw error;
  }
}

/** Whether this caller can use an operation: the service has it, and the credentials have its scope. */
export async function isOffered(
  client: { supports(route: Route): Promise<boolean>; getToken(route: Route): Promise<void> },
  route: Route,
): Promise<boolean> {
  return (await client.supports(route)) && isGranted(client, route);
}
