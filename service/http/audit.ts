import type { FastifyRequest } from "fastify";
import type { RouteName } from "../../contract";
import { shortened } from "../base/error";

/** Details of a call for the audit log. */
interface Known {
  /** The name of the client. Absent if the call was not authenticated. */
  readonly client?: string;
  /** The scope of the requested token. */
  readonly scope?: string;
  /** Ids in the request and the reply. */
  readonly ids?: Readonly<Record<string, string>>;
}

const known = new WeakMap<FastifyRequest, Known>();

/** Adds details of a call to its entry in the log. */
export function remember(request: FastifyRequest, more: Known): void {
  known.set(request, { ...known.get(request), ...more });
}

/** Operations that are not audited. They are frequent, and transfer records or recommend items. */
const dataPlane = new Set<RouteName | "other">([
  "upsertDatasetUsers",
  "upsertDatasetItems",
  "upsertDatasetEvents",
  "recommendItemsToUser",
  "recommendItemsToItem",
  "other",
]);

/** Whether calls of an operation are logged with the caller and the ids of objects. */
export function isAudited(operation: string): boolean {
  return !dataPlane.has(operation as RouteName);
}

/** Returns the caller, the address and the ids of a call for the log. */
export function auditOf(request: FastifyRequest, operation: string): { audit?: object } {
  if (!isAudited(operation)) return {};
  const forwarded = request.headers["x-forwarded-for"];
  return {
    audit: {
      ...known.get(request),
      operation,
      address: request.ip,
      // Not verified: any caller can send this header.
      ...(forwarded !== undefined && { forwardedFor: shortened(String(forwarded)) }),
    },
  };
}

/** Ids of users, items and events are personal data, so they are not logged. */
const loggedId = /^(?!(user|item|event)_id$)[a-z_]+_id$/;

/** Returns the ids in a request or reply, except those of users, items and events. */
export function idsIn(wire: unknown): Record<string, string> {
  const entries = Object.entries((wire ?? {}) as object).filter(
    (entry): entry is [string, string] => loggedId.test(entry[0]) && typeof entry[1] === "string",
  );
  return Object.fromEntries(entries.map(([name, id]) => [name, shortened(id, 100)]));
}
