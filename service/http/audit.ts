import type { FastifyRequest } from "fastify";
import type { RouteName } from "../../contract";
import { shortened } from "../base/error";

/** What is known of a call beside its line in the log. */
interface Known {
  /** The name of the client; unknown where nobody was let in. */
  readonly client?: string;
  /** The scope of the token that was asked for. */
  readonly scope?: string;
  /** What the call named or created. */
  readonly ids?: Readonly<Record<string, string>>;
}

const known = new WeakMap<FastifyRequest, Known>();

/** Remembers something of a call until it is logged. */
export function remember(request: FastifyRequest, more: Known): void {
  known.set(request, { ...known.get(request), ...more });
}

/** Calls by the thousand that carry records or answer users; all others change or show how the service is set up. */
const dataPlane = new Set<RouteName | "other">([
  "upsertDatasetUsers",
  "upsertDatasetItems",
  "upsertDatasetEvents",
  "recommendItemsToUser",
  "other",
]);

/** Whether the log says who made such a call, and what about. */
export function isAudited(operation: string): boolean {
  return !dataPlane.has(operation as RouteName);
}

/** Who did what to what and from where, for the log. */
export function auditOf(request: FastifyRequest, operation: string): { audit?: object } {
  if (!isAudited(operation)) return {};
  const forwarded = request.headers["x-forwarded-for"];
  return {
    audit: {
      ...known.get(request),
      operation,
      address: request.ip,
      // What a proxy says, or anybody who claims to be one.
      ...(forwarded !== undefined && { forwardedFor: shortened(String(forwarded)) }),
    },
  };
}

/** Users, items and events are records, of which the log says nothing. */
const loggedId = /^(?!(user|item|event)_id$)[a-z_]+_id$/;

/** The ids in a request or reply. */
export function idsIn(wire: unknown): Record<string, string> {
  const entries = Object.entries((wire ?? {}) as object).filter(
    (entry): entry is [string, string] => loggedId.test(entry[0]) && typeof entry[1] === "string",
  );
  return Object.fromEntries(entries.map(([name, id]) => [name, shortened(id, 100)]));
}
