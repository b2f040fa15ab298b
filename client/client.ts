import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Agent, Dispatcher } from "undici";
import { encode, type Input, idempotencyHeader, type Reply, type Route, routes, tolerant } from "../contract";
import { abortable, type Clock, systemClock } from "./clock";
import {
  ApiError,
  InputError,
  isOutage,
  isVerdict,
  OutcomeUnknownError,
  readRefusal,
  TokenError,
} from "./errors";
import { hidden, TokenCache } from "./http/credentials";
import type { CallOptions, ClientOptions, Timeouts } from "./http/options";
import { readReply } from "./http/reply";
import {
  connectionFailure,
  defaultRetry,
  delayMs,
  type Failure,
  otherFailure,
  type RetryPolicy,
  refusalFailure,
  retryAfterMs,
} from "./http/retry";

export type { Clock } from "./clock";
export { ApiError, ConnectionError, InputError, OutcomeUnknownError, ReplyError, TokenError } from "./errors";
export {
  commandToken,
  endpointToken,
  fixedToken,
  type TokenEndpoint,
  type TokenSource,
} from "./http/credentials";
export type { CallOptions, ClientOptions, Timeouts } from "./http/options";
export type { RetryPolicy } from "./http/retry";

/** Bodies above this size are compressed. */
const gzipAboveBytes = 1024;
const compress = promisify(gzip);

interface Prepared {
  readonly route: Route;
  readonly url: URL;
  readonly body: Buffer | string | null;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal | undefined;
  readonly onReplayed: (() => void) | undefined;
}

/** Calls the service: one connection pool, one set of credentials, one way to fail. */
export class Client {
  readonly baseUrl: string;
  /** What the service is remembered by from one run to the next. */
  readonly service: string;
  readonly #options: ClientOptions;
  readonly #agent: Agent;
  readonly #tokens: TokenCache;
  readonly #clock: Clock;
  readonly #retry: RetryPolicy;
  readonly #timeouts: Timeouts;
  /** Which addresses honour idempotency keys; an address that has not answered yet is not in it. */
  readonly #honours = new Map<string, boolean>();

  #asked: Promise<unknown> | undefined;

  constructor(options: ClientOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.service = options.instanceId ? `embedded:${options.instanceId}` : this.baseUrl;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#retry = { ...defaultRetry, ...options.retry };
    this.#timeouts = { connectMs: 10_000, headersMs: 60_000, bodyMs: 60_000, ...options.timeouts };
    // Loaded here, for most programs only declare: a third of what importing this package would take.
    const { Agent } = require("undici") as typeof import("undici");
    this.#agent = new Agent({
      connections: options.connections ?? 64,
      connect: { timeout: this.#timeouts.connectMs },
      headersTimeout: this.#timeouts.headersMs,
      bodyTimeout: this.#timeouts.bodyMs,
    });
    this.#tokens = new TokenCache(options.token, this.#agent, this.#clock);
  }

  /** Sends one call of the API and returns its reply. */
  async call<R extends Route>(route: R, input: Input<R>, options: CallOptions = {}): Promise<Reply<R>> {
    return this.#carryOut<R>(route, await this.#prepare(route, input, options), options);
  }

  /** Sends one call whose body is serialized already, in the form it has on the wire: for records by the million. */
  async send<R extends Route>(route: R, body: Buffer, options: CallOptions = {}): Promise<Reply<R>> {
    const prepared = await this.#withBody(this.#envelope(route, options), body, options);
    return this.#carryOut<R>(route, prepared, options);
  }

  async #carryOut<R extends Route>(route: R, prepared: Prepared, options: CallOptions): Promise<Reply<R>> {
    const began = this.#clock.now();
    // What an earlier attempt may have done is not undone by a later one that did not get through.
    let mayBeDone = false;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(prepared);
      if ("reply" in outcome) return outcome.reply as Reply<R>;
      const failure = outcome;
      mayBeDone = !route.repeatable && (failure.mayBeDone || (mayBeDone && !isVerdict(failure.error)));
      const key = prepared.headers["idempotency-key"];
      const final = (remark = ""): Error => {
        // The error of a token is shared by all calls that waited for it, so that no remark of one belongs in it.
        if (!(failure.error instanceof TokenError)) failure.error.message += remark;
        return mayBeDone
          ? new OutcomeUnknownError(route, key, failure.error, {
              attempts: attempt + 1,
              honoured: this.#honours.get(prepared.url.origin),
            })
          : failure.error;
      };
      const waits = prepared.signal ?? this.#options.stop;
      if (!failure.transient || waits?.aborted) throw final();
      if (mayBeDone && !(await this.honoursKeys(prepared.signal).catch(() => false))) throw final();
      const delay = delayMs(this.#retry, attempt, failure, this.#options.random ?? Math.random);
      const spent = this.#clock.now() - began;
      if (spent + delay > this.#retry.budgetMs) {
        throw final(` (given up after ${attempt + 1} attempts in ${Math.round(spent / 1000)} s)`);
      }
      options.onRetry?.(failure.error);
      this.#options.onRetry?.(`${failure.error.message}; again in ${Math.ceil(delay)} ms`);
      await this.#clock.sleep(delay, waits).catch((reason) => {
        if (waits === this.#options.stop) throw final(`; not tried again, because ${reason.message}`);
        throw mayBeDone ? final() : reason;
      });
    }
  }

  /** Whether the service says that it honours idempotency keys; one that has said nothing yet is asked by a read. */
  async honoursKeys(signal?: AbortSignal): Promise<boolean> {
    const { origin } = new URL(this.baseUrl);
    if (!this.#honours.has(origin)) {
      this.#asked ??= this.call(routes.listEventDatasets, {}, { signal })
        .catch((error) => {
          // A refusal says nothing of keys; of a service that cannot be reached nothing is known.
          if (isOutage(error)) throw error;
        })
        .finally(() => {
          this.#asked = undefined;
        });
      await this.#asked;
    }
    return this.#honours.get(origin) ?? false;
  }

  /** Gets a token for a call that is not made yet, so that whoever gets none hears of it before. */
  async getToken(route: Route): Promise<void> {
    await this.#tokens.get(route.path);
  }

  /** Closes the connections; calls under way are finished first. */
  close(): Promise<void> {
    return this.#agent.close();
  }

  async #prepare(route: Route, input: unknown, options: CallOptions): Promise<Prepared> {
    // What only our own service limits is for another one to judge.
    const schema = tolerant(route.request);
    const checked = schema.safeParse(input);
    if (!checked.success) throw new InputError(route, checked.error.issues);
    const request = encode(schema, checked.data) as Record<string, unknown>;
    const prepared = this.#envelope(route, options);
    if (route.method !== "GET") return this.#withBody(prepared, JSON.stringify(request), options);
    for (const [key, value] of Object.entries(request)) prepared.url.searchParams.set(key, String(value));
    return prepared;
  }

  #envelope(route: Route, { baseUrl, signal, onReplayed, ...options }: CallOptions): Prepared {
    const until = signal ?? (route.method === "GET" ? this.#options.stop : undefined);
    until?.throwIfAborted();
    const url = new URL((baseUrl?.replace(/\/+$/, "") ?? this.baseUrl) + route.path);
    const headers = { ...options.headers, accept: "application/json", apikey: this.#options.apiKey };
    return { route, url, headers, signal: until, onReplayed, body: null };
  }

  async #withBody(
    prepared: Prepared,
    body: Buffer | string,
    { idempotencyKey }: CallOptions,
  ): Promise<Prepared> {
    const headers: Record<string, string> = { ...prepared.headers, "content-type": "application/json" };
    if (prepared.route.method === "POST") headers["idempotency-key"] = idempotencyKey ?? randomUUID();
    const bytes = Buffer.byteLength(body);
    if (this.#options.gzip === false || bytes <= gzipAboveBytes) return { ...prepared, headers, body };
    headers["content-encoding"] = "gzip";
    // Each piece of the output costs a turn of the event loop: few and large ones.
    const packed = await compress(body, { level: 1, chunkSize: Math.max(1024, bytes >> 2) });
    return { ...prepared, headers, body: packed };
  }

  /** One attempt, and a second one with a new token when the first token is refused. */
  async #attempt(prepared: Prepared): Promise<{ reply: unknown } | Failure> {
    const { route, signal } = prepared;
    try {
      const token = await abortable(this.#tokens.get(route.path), signal ?? this.#options.stop);
      const outcome = await this.#send(prepared, token);
      if (!(this.#wasRefused(outcome) && signal?.aborted !== true)) return outcome;
      await this.#tokens.drop(route.path, token);
      const newToken = await abortable(this.#tokens.get(route.path), signal);
      return newToken === token ? outcome : await this.#send(prepared, newToken);
    } catch (error) {
      return otherFailure(error as Error);
    }
  }

  #wasRefused(outcome: object): boolean {
    return "error" in outcome && outcome.error instanceof ApiError && outcome.error.status === 401;
  }

  async #send(prepared: Prepared, token: string): Promise<{ reply: unknown } | Failure> {
    const { route, url, body, signal } = prepared;
    let answer: Dispatcher.ResponseData;
    let text: string;
    try {
      answer = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: route.method,
        headers: { ...prepared.headers, authorization: `Bearer ${token}` },
        body,
        ...(signal ? { signal } : {}),
      });
      this.#learn(url.origin, answer);
      text = await this.#textOf(answer);
    } catch (error) {
      if (signal?.aborted) return { error: error as Error, transient: false, mayBeDone: true };
      return connectionFailure(route, url.origin, error as NodeJS.ErrnoException);
    }
    const requestId = header(answer, "x-request-id") ?? header(answer, "request-id");
    if (answer.statusCode >= 300) {
      const refusal = readRefusal(text, (said) => this.#redact(said));
      const said = { ...refusal, requestId, status: answer.statusCode };
      const error = new ApiError(route, said, this.#hint(answer, url));
      // The service's own clock shows how far off its date is.
      const now = Date.parse(header(answer, "date") ?? "") || this.#clock.now();
      return refusalFailure(error, retryAfterMs(header(answer, "retry-after"), now));
    }
    const known = this.#honours.has(url.origin);
    const success = { status: answer.statusCode, text, requestId, known };
    const reply = readReply(route, success, (said) => this.#redact(said));
    if (!known) this.#honours.set(url.origin, false);
    if (header(answer, "idempotent-replayed") === "true") prepared.onReplayed?.();
    return { reply };
  }

  /** The agent limits only the time between two pieces of a body; here the whole body has a limit. */
  async #textOf({ body }: Dispatcher.ResponseData): Promise<string> {
    const { bodyMs } = this.#timeouts;
    const timer = setTimeout(() => body.destroy(new Error(`the body took longer than ${bodyMs} ms`)), bodyMs);
    return body.text().finally(() => clearTimeout(timer));
  }

  /** Any response may say that keys are honoured; only a reply without the header shows that they are not. */
  #learn(origin: string, answer: Dispatcher.ResponseData): void {
    const said = (header(answer, idempotencyHeader) ?? "").toUpperCase();
    if (said.includes("POST")) this.#honours.set(origin, true);
  }

  #hint(answer: Dispatcher.ResponseData, { origin }: URL): string {
    const { statusCode: status } = answer;
    if (status < 400) {
      const { message: place } = readRefusal(header(answer, "location") ?? "another place", (said) =>
        this.#redact(said),
      );
      return `; it leads to ${place}: is ${origin} the address of the service itself?`;
    }
    if (status === 404) return `; the service asked was ${origin}`;
    if (status === 401) return `; the token came from ${this.#tokens.source.origin}: is it still valid?`;
    if (status === 403)
      return `; the token came from ${this.#tokens.source.origin}: does it cover this scope?`;
    return "";
  }

  #redact(text: string): string {
    const open = this.#tokens.redact(hidden(text, this.#options.apiKey));
    return this.#options.redact?.(open) ?? open;
  }
}

function header(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
