import { isOnThisMachine } from "../../client/address";
import { parseJson } from "../../client/parse";
import { isObject } from "../../contract/field";
import { truncate } from "../../contract/messages";

/** Longest wait before another attempt. GitHub's limits can last an hour, which is longer than a pipeline should wait. */
const maxWaitMs = 60_000;
const timeoutMs = 30_000;

/** Error of a call to a host. */
export class HostError extends Error {
  override readonly name = "HostError";

  constructor(
    message: string,
    readonly status?: number,
    /** Time to wait before another attempt. Undefined if another attempt cannot help. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** Calls the API of a host that stores comments. Errors never contain the token. */
export class HostClient {
  readonly #base: URL;

  constructor(
    private readonly host: string,
    base: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly token: string,
    /** Returns the step to take if the host rejects the token. */
    private readonly advice: (status: number) => string,
  ) {
    if (!URL.canParse(base)) throw new HostError(`The address of ${host} is invalid.`);
    this.#base = new URL(base);
    if (this.#base.protocol !== "https:" && !isOnThisMachine(base))
      throw new HostError(`${host} has no https:// address, so the token is not sent to it.`);
  }

  /** Sends a request and returns the JSON of the response. */
  async call(
    method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE",
    path: string,
    body?: object,
  ): Promise<unknown> {
    const response = await fetch(`${this.#base.href.replace(/\/$/, "")}${path}`, {
      method,
      headers: { ...this.headers, "content-type": "application/json", "user-agent": "pulumi-recommender" },
      // A redirect could take the token to another host.
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: Error & { cause?: NodeJS.ErrnoException }) => {
      const reason = error.cause?.code ?? error.cause?.message ?? error.message;
      throw new HostError(this.#masked(`${this.host} cannot be reached (${reason}).`), undefined, 0);
    });
    const text = await response.text().catch(() => "");
    if (response.ok) {
      const json = parseJson(text);
      if (json !== undefined || response.status === 204) return json;
      throw new HostError(
        `The response of ${this.host} to ${method} ${path} is not JSON.`,
        response.status,
        0,
      );
    }
    throw this.#error(`${method} ${path}`, response, text);
  }

  #error(call: string, response: Response, text: string): HostError {
    const { status } = response;
    const json = parseJson(text);
    const detail = isObject(json) ? String(json.message ?? json.error ?? "") : "";
    const reason = `${status}${detail ? `: ${truncate(detail, 200)}` : ""}`;
    const wait = retryAfterMs(response);
    if (wait !== undefined && wait <= maxWaitMs)
      return new HostError(this.#masked(`${this.host} rejected ${call} (${reason}).`), status, wait);
    if (wait !== undefined) {
      const minutes = Math.ceil(wait / 60_000);
      return new HostError(
        this.#masked(
          `${this.host} accepts no calls for ${minutes} min (${reason}). Run the command again then.`,
        ),
        status,
      );
    }
    return new HostError(
      this.#masked(`${this.host} rejected ${call} (${reason}). ${this.advice(status)}`),
      status,
    );
  }

  #masked(message: string): string {
    return message.replaceAll(this.token, "[token]");
  }
}

/** Returns how long to wait before another attempt. Undefined if the response is final. */
function retryAfterMs({ status, headers }: Response): number | undefined {
  const isLimited = status === 429 || (status === 403 && headers.get("x-ratelimit-remaining") === "0");
  const after = headers.get("retry-after");
  if (status < 500 && !isLimited && !(status === 403 && after)) return undefined;
  if (after && Number.isFinite(Number(after))) return Number(after) * 1000;
  const reset = Number(headers.get("x-ratelimit-reset") ?? headers.get("ratelimit-reset") ?? Number.NaN);
  return isLimited && Number.isFinite(reset) ? Math.max(0, reset * 1000 - Date.now()) : 0;
}
