import { ServiceError } from "../base/error";

/** What PostgreSQL says where two transactions cannot be put into an order. */
export const conflictCode = "40001";

/** The SQLSTATE of a server that takes no writes: a replica, or one that was made read-only. */
export const readOnlyCode = "25006";

/** What `pg` says where no answer came; the connection is of no use any more. */
const noAnswer = "Query read timeout";

/** Whether a transaction failed only because of others at the same time, so that it can be carried out anew. */
export function isConflict(error: unknown): boolean {
  const deadlock = "40P01";
  const code = codeOf(error);
  // In a folder only `recommender clients` writes beside the service.
  return code === conflictCode || code === deadlock || code.startsWith("SQLITE_BUSY");
}

interface Outage {
  readonly codes: RegExp;
  /** What `pg` itself reports, which has no code. */
  readonly messages?: RegExp;
  readonly message: string;
  readonly retryAfterSec: number;
  /** Whether the connection keeps failing after the server has recovered, so it must be closed. */
  readonly endsConnection: boolean;
}

/** Every way in which the database is unavailable. The first row that matches an error decides. */
const outages: readonly Outage[] = [
  {
    codes: /^57014$/,
    message:
      "The database took too long, so that the call was broken off and has changed nothing; call again. " +
      "If that goes on, look for overload and for locks (pg_stat_activity).",
    retryAfterSec: 5,
    endsConnection: false,
  },
  {
    codes: new RegExp(`^${readOnlyCode}$`),
    message:
      "The database accepts no writes at the moment: it is a replica or read-only. The call has changed nothing; " +
      "call again. If it stays so, point --store at the primary, or turn off default_transaction_read_only.",
    retryAfterSec: 5,
    endsConnection: true,
  },
  {
    codes: /^53100$/,
    message:
      "The disk of the database is full. The call has changed nothing; free space there and call again. " +
      "Reading still works.",
    retryAfterSec: 5,
    // A new connection for every refused write would only add load.
    endsConnection: false,
  },
  {
    codes: /^(08|57P|53|25P03|58030)|^E(CONN|PIPE|TIMEDOUT|AI_AGAIN|NOTFOUND|HOSTUNREACH|NETUNREACH)/,
    messages: new RegExp(
      `^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|${noAnswer})`,
    ),
    message:
      "The database cannot be reached at the moment, so that the call may or may not have been carried out; call again.",
    retryAfterSec: 1,
    endsConnection: true,
  },
];

/** The outage that an error or one of its causes reports: a model cannot be copied, for example, because of an outage. */
function outageOf(error: unknown): Outage | undefined {
  return causesOf(error)
    .map((cause) =>
      outages.find(
        ({ codes, messages }) => codes.test(codeOf(cause)) || messages?.test(String(cause.message)),
      ),
    )
    .find((outage) => outage !== undefined);
}

/** An error and its causes. */
function causesOf(error: unknown): Error[] {
  if (typeof error !== "object" || error === null) return [];
  return [error as Error, ...causesOf((error as Error).cause)];
}

/** The code by which another thread knows an outage from an error that it is told of; undefined if it was none. */
export function outageCode(error: unknown): string | undefined {
  const connectionFailure = "08006";
  if (!isOutage(error)) return undefined;
  const known = causesOf(error)
    .map(codeOf)
    .find((code) => outages.some(({ codes }) => codes.test(code)));
  return known ?? connectionFailure;
}

/** The error that a caller gets where the database cannot be reached, takes too long, or takes no writes. */
export function unreachable(error: unknown): ServiceError | undefined {
  const outage = outageOf(error);
  if (!outage) return undefined;
  const headers = { "retry-after": String(outage.retryAfterSec) };
  return new ServiceError("UNAVAILABLE", outage.message, { headers });
}

/** Whether a connection that reported this error must not be used again. */
export function endsConnection(error: unknown): boolean {
  return outageOf(error)?.endsConnection === true;
}

/** Whether an error says that the database was unavailable, so the same work may succeed later. */
export function isOutage(error: unknown): boolean {
  const isRefused = error instanceof ServiceError && error.code === "UNAVAILABLE";
  return isRefused || outageOf(error) !== undefined;
}

/** Whether an error says that the database accepts no writes. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === readOnlyCode;
}

/** Whether an error says that the disk of the database is full. */
export function isDiskFull(error: unknown): boolean {
  return /^(53100|SQLITE_FULL)$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}
