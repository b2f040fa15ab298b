import type { Agent, Dispatcher } from "undici";
import { type Input, idempotencyHeader, type Reply, type Route, routes } from "../contract";
import { abortable, type Clock, systemClock } from "./clock";
import { ApiError, isOutage, OutcomeUnknownError, ReplyError } from "./errors";
import { fetchExtensions, UnsupportedError } from "./extensions";
import { isFinal, isForeign, isRecognised } from "./finality";
import { redactSecret, TokenCache } from "./http/credentials";
import { readErrorBody } from "./http/error-body";
import { giveUpError, hintOf, stoppedError, WaitNotice } from "./http/hints";
import type { CallOptions, ClientOptions, Timeouts } from "./http/options";
import { readReply } from "./http/reply";
import { type PreparedRequest, Requests } from "./http/request";
import {
  budgetMs,
  connectionFailure,
  defaultRetry,
  delayMs,
  errorReplyFailure,
  type Failure,
  type RetryPolicy,
  retryAfterMs,
  thrownFailure,
} from "./http/retry";
import { retryRead } from "./http/retry-read";

export type { Clock } from "./clock";
export { ApiError, ConnectionError, InputError, OutcomeUnknownError, ReplyError, TokenError } from "./errors";
export { UnsupportedError } from "./extensions";
export {
  commandToken,
  endpointToken,
  fixedToken,
  type TokenEndpoint,
  type TokenSource,
} from "./http/credentials";
export type { CallOptions, ClientOptions, Timeouts } from "./http/options";
export type { RetryPolicy } from "./http/retry";

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
  /** Addresses under which the service itself has answered, be it with an error. */
  readonly #answered = new Set<string>();
  readonly #waiting: WaitNotice;
  readonly #requests: Requests;

  #asked: Promise<unknown> | undefined;
  #extensions: Promise<ReadonlySet<string>> | undefined;

  constructor(options: ClientOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.service = options.instanceId ? `embedded:${options.instanceId}` : this.baseUrl;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#retry = { ...defaultRetry, ...options.retry };
    this.#requests = new Requests(options);
    this.#waiting = new WaitNotice(this.#clock, options.onWait);
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
    if (!(await this.supports(route))) throw new UnsupportedError(route, this.baseUrl);
    return this.#carryOut<R>(route, await this.#requests.fromInput(route, input, options), options);
  }

  /** Sends one call whose body is serialized already, in the form it has on the wire: for records by the million. */
  async send<R extends Route>(route: R, body: Buffer, options: CallOptions = {}): Promise<Reply<R>> {
    return this.#carryOut<R>(route, await this.#requests.fromBody(route, body, options), options);
  }

  async #carryOut<R extends Route>(
    route: R,
    prepared: PreparedRequest,
    options: CallOptions,
  ): Promise<Reply<R>> {
    const began = this.#clock.now();
    const { origin } = prepared.url;
    // A later attempt that does not get through does not undo what an earlier one may have done.
    let mayBeDone = false;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(prepared);
      if ("reply" in outcome) return outcome.reply as Reply<R>;
      const failure = outcome;
      mayBeDone =
        !route.repeatable &&
        (failure.mayHaveRun || (mayBeDone && !isFinal(failure.error, { mayHaveRun: true })));
      const final = (error = failure.error): Error =>
        mayBeDone
          ? new OutcomeUnknownError(route, prepared.headers["idempotency-key"], error, {
              attempts: attempt + 1,
              honoured: this.#honours.get(origin),
            })
          : error;
      const waits = prepared.signal ?? this.#options.stop;
      // The address may be wrong; then nothing was created there.
      const isDoubtful = mayBeDone && isForeign(failure.error) && !this.#answered.has(origin);
      if (isDoubtful && (await this.#isElsewhere(prepared.signal))) throw failure.error;
      const isTransient = failure.transient || (isDoubtful && this.#answered.has(origin));
      if (!isTransient || waits?.aborted) throw final();
      if (mayBeDone && !(await this.honoursKeys(prepared.signal).catch(() => false))) throw final();
      const delay = delayMs(this.#retry, attempt, failure, this.#options.random ?? Math.random);
      const spent = this.#clock.now() - began;
      const budget = budgetMs(this.#retry, failure, this.#answered.has(origin));
      if (spent + delay > budget) throw final(giveUpError(failure.error, attempt + 1, spent, this.whoami));
      options.onRetry?.(failure.error);
      this.#options.onRetry?.(`${failure.error.message}; again in ${Math.ceil(delay)} ms`);
      this.#waiting.say(failure.error, spent + delay, budget);
      await this.#clock.sleep(delay, waits).catch((reason) => {
        if (waits === this.#options.stop) throw final(stoppedError(failure.error, reason));
        throw mayBeDone ? final() : reason;
      });
    }
  }

  /** The command that shows which address and credentials are used. */
  get whoami(): string {
    return this.#options.whoami ?? "recommender whoami";
  }

  /** Whether a read shows too that something other than the service answers under its address. */
  async #isElsewhere(signal: AbortSignal | undefined): Promise<boolean> {
    const error = await this.call(routes.listEventDatasets, {}, { signal }).catch((thrown) => thrown);
    return isForeign(error) || error instanceof ReplyError;
  }

  /** Whether the service has an operation. Those of the specification it has; for others, its `/healthz` is read once. */
  async supports(route: Route): Promise<boolean> {
    if (!route.extension) return true;
    const { origin } = new URL(this.baseUrl);
    this.#extensions ??= this.#patiently(
      () => fetchExtensions(this.baseUrl, this.#agent),
      (error) =>
        error instanceof ApiError
          ? { error, transient: true, mayHaveRun: false }
          : connectionFailure(route, origin, error),
      (failure) => budgetMs(this.#retry, failure, this.#answered.has(origin)),
    ).catch((error) => {
      this.#extensions = undefined;
      throw error;
    });
    return (await this.#extensions).has(route.path);
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

  /** Whether the source of tokens refuses a scope that the credentials lack. */
  get refusesScopes(): boolean {
    return this.#tokens.source.refusesScopes === true;
  }

  /** Gets a token for a call that is not made yet, to report early if there is none. */
  async getToken(route: Route): Promise<void> {
    await this.#patiently(() => this.#tokens.get(route.path), thrownFailure);
  }

  #patiently<T>(
    work: () => Promise<T>,
    failureOf: (error: Error) => Failure,
    budgetOf: (failure: Failure) => number = () => this.#retry.unreachableMs,
  ): Promise<T> {
    const { random = Math.random, stop } = this.#options;
    const giveUp = (error: Error, attempts: number, spentMs: number) =>
      giveUpError(error, attempts, spentMs, this.whoami);
    const [clock, policy] = [this.#clock, this.#retry];
    return retryRead(work, { clock, policy, random, stop, failureOf, budgetOf, givenUp: giveUp });
  }

  /** Closes the connections; calls under way are finished first. */
  close(): Promise<void> {
    return this.#agent.close();
  }

  /** One attempt, and a second one with a new token when the first token is refused. */
  async #attempt(prepared: PreparedRequest): Promise<{ reply: unknown } | Failure> {
    const { route, signal } = prepared;
    try {
      const token = await abortable(this.#tokens.get(route.path), signal ?? this.#options.stop);
      const outcome = await this.#send(prepared, token);
      if (!(this.#wasRefused(outcome) && signal?.aborted !== true)) return outcome;
      await this.#tokens.drop(route.path, token);
      const newToken = await abortable(this.#tokens.get(route.path), signal);
      return newToken === token ? outcome : await this.#send(prepared, newToken);
    } catch (error) {
      return thrownFailure(error as Error);
    }
  }

  #wasRefused(outcome: object): boolean {
    return "error" in outcome && outcome.error instanceof ApiError && outcome.error.status === 401;
  }

  async #send(prepared: PreparedRequest, token: string): Promise<{ reply: unknown } | Failure> {
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
      if (signal?.aborted) return { error: error as Error, transient: false, mayHaveRun: true };
      return connectionFailure(route, url.origin, error as NodeJS.ErrnoException);
    }
    const requestId = header(answer, "x-request-id") ?? header(answer, "request-id");
    if (answer.statusCode >= 300) return this.#refusal(prepared, answer, text, requestId);
    const known = this.#honours.has(url.origin);
    const success = { status: answer.statusCode, text, requestId, known };
    const reply = readReply(route, success, (said) => this.#redact(said));
    if (!known) this.#honours.set(url.origin, false);
    this.#answered.add(url.origin);
    if (header(answer, "idempotent-replayed") === "true") prepared.onReplayed?.();
    return { reply };
  }

  #refusal(
    { route, url, ids, hasFallback }: PreparedRequest,
    answer: Dispatcher.ResponseData,
    text: string,
    requestId: string | undefined,
  ): Failure {
    const { statusCode: status } = answer;
    const refusal = readErrorBody(text, (said) => this.#redact(said));
    const isOwn = isRecognised(status, refusal, Object.values(ids));
    if (isOwn) this.#answered.add(url.origin);
    const hint = hintOf(
      { status, isRecognised: isOwn, location: this.#redact(header(answer, "location") ?? "") },
      { origin: url.origin, ids, tokensFrom: this.#tokens.source.origin, whoami: this.whoami },
    );
    const error = new ApiError(route, { ...refusal, requestId, status, isRecognised: isOwn }, hint);
    // The service's own clock shows how far off its date is.
    const now = Date.parse(header(answer, "date") ?? "") || this.#clock.now();
    const hasAnswered = this.#answered.has(url.origin) && !hasFallback;
    return errorReplyFailure(error, retryAfterMs(header(answer, "retry-after"), now), hasAnswered);
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

  #redact(text: string): string {
    const open = this.#tokens.redact(redactSecret(text, this.#options.apiKey));
    return this.#options.redact?.(open) ?? open;
  }
}

function header(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
