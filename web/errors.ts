/** A problem in a field of the request. */
interface Detail {
  readonly path: string;
  readonly message: string;
}

/**
 * The fields of an error of the service. A gateway may return anything, so any field may be missing or have another
 * type.
 */
type ErrorFields = Readonly<Partial<Record<"code" | "message" | "details" | "request_id", unknown>>>;

/** A call failed. */
export class RecommenderError extends Error {
  override readonly name = "RecommenderError";

  constructor(
    /**
     * `TIMEOUT`, `UNREACHABLE`, `INVALID` for a response that is not from the service, `UNSUPPORTED` for an option that
     * the service does not have, or the code of the service, such as `FORBIDDEN`.
     */
    readonly code: string,
    message: string,
    readonly more: {
      /** Status of the response, if there was one. */
      readonly status?: number;
      /** Id of the call in the log of the service. */
      readonly requestId?: string;
      /** Invalid fields of the request. */
      readonly details?: readonly Detail[];
      /** Time after which the service asks to try again. */
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, "cause" in more ? { cause: more.cause } : undefined);
  }

  /** Whether the same call can succeed later. */
  get isTransient(): boolean {
    const { status } = this.more;
    return status === undefined || status === 429 || status >= 500;
  }
}

/** Reads the error that a response contains. */
export async function errorIn(response: Response): Promise<RecommenderError> {
  const { status, headers } = response;
  const body = (await response.json().catch(() => undefined)) as
    | { error?: ErrorFields | null }
    | null
    | undefined;
  const fields = body?.error ?? {};
  const given = textOf(fields.message) ?? `The service returned status ${status}.`;
  const details = Array.isArray(fields.details) ? (fields.details as unknown[]).filter(isDetail) : [];
  const reasons = details
    .map(({ path, message }) => ` ${path && `${path}: `}${message.replace(/[?.]?$/, (end) => end || ".")}`)
    .join("");
  // The details follow.
  const message = details.length > 0 ? given.replace(/ See `details`\.$/, "") : given;
  const requestId = textOf(fields.request_id);
  const seconds = Number(headers.get("retry-after"));
  return new RecommenderError(textOf(fields.code) ?? `HTTP_${status}`, `${message}${reasons}`, {
    status,
    ...(requestId !== undefined && { requestId }),
    ...(details.length > 0 && { details }),
    ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
  });
}

/** Returns the error for a response that the service cannot have sent, such as the page of a gateway. */
export function notFromService(cause?: unknown): RecommenderError {
  const message = "The response is not one of the service. Check that url is the address of the service.";
  return new RecommenderError("INVALID", message, { cause });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isDetail(value: unknown): value is Detail {
  const { path, message } = (value ?? {}) as Partial<Detail>;
  return typeof path === "string" && typeof message === "string";
}
