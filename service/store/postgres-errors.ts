import { ServiceError } from "../base/error";

/** SQLSTATE of a transaction that conflicts with a concurrent one (serialization failure). */
export const conflictCode = "40001";

/** SQLSTATE of a server that accepts no writes: a replica, or one that is read-only. */
export const readOnlyCode = "25006";

/**
 * Message of `pg` if a response did not arrive in time. The error has no code, and the connection cannot be used again.
 */
export const readTimeout = "Query read timeout";

/** Whether a transaction failed only because of a concurrent one, so it can run again. */
export function isConflict(error: unknown): boolean {
  const deadlock = "40P01";
  const code = codeOf(error);
  // SQLite can be busy, because `recommender clients` writes to an embedded database while the service runs.
  return code === conflictCode || code === deadlock || code.startsWith("SQLITE_BUSY");
}

interface Outage {
  readonly codes: RegExp;
  /** Messages of errors that `pg` itself throws. They have no code. */
  readonly messages?: RegExp;
  readonly message: string;
  /** Sent as `Retry-After`, which tells clients that the call did not run. Absent if it may have run. */
  readonly retryAfterSec?: number;
  /** Whether the connection keeps failing after the server has recovered, so it must be closed. */
  readonly endsConnection: boolean;
}

/** Ways in which the database is unavailable. The first match applies. */
const outages: readonly Outage[] = [
  {
    codes: /^57014$/,
    message:
      "The database took too long. The call was canceled and has changed nothing. Call again. " +
      "If this persists, check pg_stat_activity for overload and locks.",
    retryAfterSec: 5,
    endsConnection: false,
  },
  {
    codes: new RegExp(`^${readOnlyCode}$`),
    message:
      "The database accepts no writes: it is a replica or read-only. The call has changed nothing. Call again. " +
      "If this persists, set --store to the primary, or turn off default_transaction_read_only.",
    retryAfterSec: 5,
    endsConnection: true,
  },
  {
    // Writing files of models and results fails with error codes of the operating system.
    codes: /^(53100|ENOSPC|EDQUOT|EFBIG)$/,
    message:
      "The disk is full. The call has changed nothing. Free disk space and call again. " +
      "Reads still work.",
    retryAfterSec: 5,
    // A new connection for every rejected write would only add load.
    endsConnection: false,
  },
  {
    codes: /^(08|57P|53|25P03|58030)|^E(CONN|PIPE|TIMEDOUT|AI_AGAIN|NOTFOUND|HOSTUNREACH|NETUNREACH)/,
    messages: new RegExp(
      `^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|${readTimeout})`,
    ),
    message: "The database cannot be reached. The call may or may not have taken effect. Call again.",
    endsConnection: true,
  },
];

/** Returns the outage that an error or one of its causes reports. */
function outageOf(error: unknown): Outage | undefined {
  return causesOf(error)
    .map((cause) =>
      outages.find(
        ({ codes, messages }) => codes.test(codeOf(cause)) || messages?.test(String(cause.message)),
      ),
    )
    .find((outage) => outage !== undefined);
}

/** Returns an error and its causes. */
function causesOf(error: unknown): Error[] {
  if (typeof error !== "object" || error === null) return [];
  return [error as Error, ...causesOf((error as Error).cause)];
}

/** Returns a code by which another thread recognizes an outage, or undefined if the error is not an outage. */
export function outageCode(error: unknown): string | undefined {
  const connectionFailure = "08006";
  if (!isOutage(error)) return undefined;
  const known = causesOf(error)
    .map(codeOf)
    .find((code) => outages.some(({ codes }) => codes.test(code)));
  return known ?? connectionFailure;
}

/** Returns the response to a caller if the database is unavailable, or undefined if the error has another cause. */
export function unreachable(error: unknown): ServiceError | undefined {
  const outage = outageOf(error);
  if (!outage) return undefined;
  const { message, retryAfterSec } = outage;
  const headers = retryAfterSec === undefined ? {} : { "retry-after": String(retryAfterSec) };
  return new ServiceError("UNAVAILABLE", message, { headers });
}

/** Whether a connection that reported this error must not be used again. */
export function endsConnection(error: unknown): boolean {
  return outageOf(error)?.endsConnection === true;
}

/** Whether an error means that the database or the storage was unavailable, so the same work may succeed later. */
export function isOutage(error: unknown): boolean {
  const isUnavailable = error instanceof ServiceError && error.code === "UNAVAILABLE";
  return isUnavailable || outageOf(error) !== undefined;
}

/** Whether an error means that the database accepts no writes. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === readOnlyCode;
}

/** Whether an error means that the disk of the database is full. */
export function isDiskFull(error: unknown): boolean {
  return /^(53100|SQLITE_FULL)$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}
