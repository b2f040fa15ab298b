import type { Dispatcher } from "undici";
import { extensionName, type Input, type Reply, type Route, routes } from "../contract";
import { canonicalAddress } from "./address";
import { abortable, type Clock, systemClock } from "./clock";
import { ApiError, isOutage, OutcomeUnknownError } from "./errors";
import { fetchExtensions, healthBudgetMs, healthFailure, isGranted, requireSupport } from "./extensions";
import { isFinal, isForeign, isRecognised, isUndecided, kindsIn, namesObject } from "./finality";
import { defaultBodyMs, readBody } from "./http/body";
import { redactSecret, TokenCache } from "./http/credentials";
import { readErrorBody } from "./http/error-body";
import { giveUpError, hintOf, stoppedError, WaitNotice } from "./http/hints";
import type { CallOptions, ClientOptions, Timeouts } from "./http/options";
import { hasKeysHeader, header, readReply } from "./http/reply";
import { type PreparedRequest, Requests } from "./http/request";
import {
  budgetMs,
  connectionFailure,
  defaultRetry,
  delayMs,
  errorReplyFailure,
  type Failure,
  type ReadLimits,
  retryAfterMs,
  retryRead,
  thrownFailure,
} from "./http/retry";
import { traceRequests } from "./http/tracing";
import { ServingAddresses } from "./serving-address";

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

/** Client of the recommendation API, with a connection pool, credentials and retries. */
export class Client {
  readonly baseUrl: string;
  /** Identifies the service across runs, even if the address of an embedded service changes. */
  readonly service: string;
  /** Serving addresses to which the credentials may be sent. */
  readonly serving: ServingAddresses;
  readonly #options: ClientOptions;
  readonly #agent: Dispatcher;
  readonly #tokens: TokenCache;
  readonly #clock: Clock;
  readonly #timeouts: Timeouts;
  /** Whether each address honours idempotency keys. Addresses that have not responded yet are missing. */
  readonly #honoursKeys = new Map<string, boolean>();
  /** Addresses at which the service itself has responded, even with an error. */
  readonly #responded = new Set<string>();
  readonly #requests: Requests;
  readonly #limits: ReadLimits;
  #keysProbe: Promise<unknown> | undefined;
  #extensions: Promise<ReadonlySet<string>> | undefined;

  constructor(options: ClientOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.service = options.instanceId ? `embedded:${options.instanceId}` : canonicalAddress(this.baseUrl);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#requests = new Requests(options);
    this.serving = new ServingAddresses(this.baseUrl);
    this.#limits = {
      policy: { ...defaultRetry, ...options.retry },
      clock: this.#clock,
      random: options.random ?? Math.random,
      notice: new WaitNotice(this.#clock, options.onWait),
      stop: options.stop,
      whoami: this.whoami,
    };
    this.#timeouts = { connectMs: 10_000, headersMs: 60_000, bodyMs: defaultBodyMs, ...options.timeouts };
    // Loaded lazily: most programs only declare resources, and undici is a third of the import time of this package.
    const { Agent } = require("undici") as typeof import("undici");
    const connect = { timeout: this.#timeouts.connectMs };
    const { headersMs: headersTimeout, bodyMs: bodyTimeout } = this.#timeouts;
    const { connections = 64 } = options;
    this.#agent = traceRequests(new Agent({ connections, connect, headersTimeout, bodyTimeout }));
    this.#tokens = new TokenCache(options.token, this.#agent, this.#clock, this.#timeouts.bodyMs);
  }

  /** Calls an operation of the API and returns the reply. */
  async call<R extends Route>(route: R, input: Input<R>, options: CallOptions = {}): Promise<Reply<R>> {
    await requireSupport(this, route, input);
    return this.#callWithRetries<R>(route, await this.#requests.fromInput(route, input, options), options);
  }

  /** Calls an operation with a body that is already serialized in wire format. Use it for millions of records. */
  async send<R extends Route>(route: R, body: Buffer, options: CallOptions = {}): Promise<Reply<R>> {
    return this.#callWithRetries<R>(route, await this.#requests.fromBody(route, body, options), options);
  }

  async #callWithRetries<R extends Route>(
    route: R,
    prepared: PreparedRequest,
    options: CallOptions,
  ): Promise<Reply<R>> {
    const { policy, random, notice } = this.#limits;
    const began = this.#clock.now();
    const { origin } = prepared.url;
    const waitSignal = prepared.signal ?? this.#options.stop;
    // Whether an attempt may have run. Stays true if a later attempt fails to connect.
    let mayHaveRun = false;
    for (let attempt = 0; ; attempt++) {
      const silence = `no response to ${route.method} ${route.path} yet (${origin})`;
      const failure = await notice.during(this.#attempt(prepared), silence, policy.budgetMs);
      if ("reply" in failure) return failure.reply as Reply<R>;
      mayHaveRun =
        !route.repeatable &&
        (failure.mayHaveRun || (mayHaveRun && !isFinal(failure.error, { mayHaveRun: true })));
      const finalError = (error = failure.error): Error =>
        mayHaveRun
          ? new OutcomeUnknownError(route, prepared.headers["idempotency-key"], error, {
              attempts: attempt + 1,
              honoured: this.#honoursKeys.get(origin),
            })
          : error;
      // If the address is wrong, nothing was created there, so the outcome is known.
      // If the address is right, a retry may help.
      const isDoubtful = mayHaveRun
        ? isForeign(failure.error)
        : !failure.transient && isUndecided(failure.error);
      const mayBeWrongAddress = isDoubtful && !prepared.hasFallback && !this.#responded.has(origin);
      if (mayBeWrongAddress && (await this.#isWrongAddress(prepared))) throw failure.error;
      if (isUndecided(failure.error) && (await options.isObsolete?.())) throw finalError();
      const isTransient = failure.transient || (mayBeWrongAddress && this.#responded.has(origin));
      if (!isTransient || waitSignal?.aborted) throw finalError();
      if (mayHaveRun && !(await this.honoursKeys(prepared.signal).catch(() => false))) throw finalError();
      const delay = delayMs(policy, attempt, failure, random);
      const spent = this.#clock.now() - began;
      const budget = budgetMs(policy, failure, this.#responded.has(origin));
      if (spent + delay > budget)
        throw finalError(giveUpError(failure.error, attempt + 1, spent, this.whoami));
      options.onRetry?.(failure.error);
      this.#options.onRetry?.(`${failure.error.message}; retrying in ${Math.ceil(delay)} ms`);
      notice.report(failure.error.message, spent + delay, budget);
      await this.#clock.sleep(delay, waitSignal).catch((reason) => {
        if (waitSignal === this.#options.stop) throw finalError(stoppedError(failure.error, reason));
        throw mayHaveRun ? finalError() : reason;
      });
    }
  }

  /** Command that shows the address and credentials in use. */
  get whoami(): string {
    return this.#options.whoami ?? "recommender whoami";
  }

  /** Whether the address is wrong. It is if even a read gets a response that does not come from the service. */
  async #isWrongAddress({ route, signal }: PreparedRequest): Promise<boolean> {
    if (route.path === routes.listEventDatasets.path) return true;
    return isUndecided(await this.call(routes.listEventDatasets, {}, { signal }).catch((error) => error));
  }

  /** Whether the service supports an operation or a field. For extensions, this reads `/healthz` once. */
  async supports(route: Route, field?: string): Promise<boolean> {
    if (!route.extension && field === undefined) return true;
    const { origin } = new URL(this.baseUrl);
    this.#extensions ??= retryRead(
      () =>
        fetchExtensions(this.baseUrl, this.#agent, this.#timeouts.bodyMs, () => this.#mayHaveExtensions()),
      `no response to GET /healthz yet (${origin})`,
      (error) => healthFailure(route, origin, error),
      this.#limits,
      (failure) => healthBudgetMs(this.#limits.policy, failure, this.#responded.has(origin)),
    ).catch((error) => {
      this.#extensions = undefined;
      throw error;
    });
    return (await this.#extensions).has(extensionName(route, field));
  }

  /** Whether the service may be the one in this package, which honours idempotency keys. */
  async #mayHaveExtensions(): Promise<boolean> {
    if (!(await isGranted(this, routes.listEventDatasets))) return false;
    return (await this.honoursKeys()) || !this.#responded.has(new URL(this.baseUrl).origin);
  }

  /** Whether the service honours idempotency keys. If it has not responded yet, this sends a read to find out. */
  async honoursKeys(signal?: AbortSignal): Promise<boolean> {
    const { origin } = new URL(this.baseUrl);
    if (!this.#honoursKeys.has(origin)) {
      this.#keysProbe ??= this.call(routes.listEventDatasets, {}, { signal })
        .catch((error) => {
          // An error reply does not show whether keys are honoured, so the result is false for now.
          if (isOutage(error)) throw error;
        })
        .finally(() => {
          this.#keysProbe = undefined;
        });
      await this.#keysProbe;
    }
    return this.#honoursKeys.get(origin) ?? false;
  }

  /** Whether the token source rejects scopes that the credentials do not have. */
  get refusesScopes(): boolean {
    return this.#tokens.source.refusesScopes === true;
  }

  /** Gets a token for a later call, to fail early if no token is issued. */
  async getToken(route: Route): Promise<void> {
    await retryRead(() => this.#tokens.get(route.path), "no access token yet", thrownFailure, this.#limits);
  }

  /** Waits for calls in progress, then closes the connections. */
  close(): Promise<void> {
    return this.#agent.close();
  }

  /** Sends a request. If the token is rejected, sends it once more with a new token. */
  async #attempt(prepared: PreparedRequest): Promise<{ reply: unknown } | Failure> {
    const { route, signal } = prepared;
    try {
      const token = await abortable(this.#tokens.get(route.path), signal ?? this.#options.stop);
      const outcome = await this.#send(prepared, token);
      const isUnauthorized =
        "error" in outcome && outcome.error instanceof ApiError && outcome.error.status === 401;
      if (!isUnauthorized || signal?.aborted) return outcome;
      await this.#tokens.drop(route.path, token);
      const newToken = await abortable(this.#tokens.get(route.path), signal);
      return newToken === token ? outcome : await this.#send(prepared, newToken);
    } catch (error) {
      return thrownFailure(error as Error);
    }
  }

  async #send(prepared: PreparedRequest, token: string): Promise<{ reply: unknown } | Failure> {
    const { route, url, body, signal, sent } = prepared;
    let response: Dispatcher.ResponseData;
    let text: string;
    try {
      response = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: route.method,
        headers: { ...prepared.headers, authorization: `Bearer ${token}` },
        body,
        ...(signal ? { signal } : {}),
      });
      // Any response can show that keys are honoured. Only a success without the header shows that they are not.
      if (hasKeysHeader(response)) this.#honoursKeys.set(url.origin, true);
      text = await readBody(response, this.#timeouts.bodyMs);
    } catch (error) {
      if (signal?.aborted) return { error: error as Error, transient: false, mayHaveRun: true };
      return connectionFailure(route, url.origin, error as NodeJS.ErrnoException);
    }
    const requestId = header(response, "x-request-id") ?? header(response, "request-id");
    if (response.statusCode >= 300) return this.#errorReply(prepared, response, text, requestId);
    const isKnownAddress = this.#honoursKeys.has(url.origin) || this.#responded.has(url.origin);
    const success = { status: response.statusCode, text, requestId, isKnownAddress, sent };
    const reply = readReply(route, success, (shown) => this.#redact(shown));
    if (!this.#honoursKeys.has(url.origin)) this.#honoursKeys.set(url.origin, false);
    this.#responded.add(url.origin);
    this.serving.learn(reply);
    if (header(response, "idempotent-replayed") === "true") prepared.onReplayed?.();
    return { reply };
  }

  #errorReply(
    { route, url, ids, hasFallback }: PreparedRequest,
    response: Dispatcher.ResponseData,
    text: string,
    requestId: string | undefined,
  ): Failure {
    const { statusCode: status } = response;
    const errorBody = readErrorBody(text, (shown) => this.#redact(shown));
    const asked = { kinds: kindsIn(route), ids: Object.values(ids) };
    // A service that honours keys sends a header with each response. Gateways do not, so a response without it is
    // theirs.
    const isForeignReply = this.#honoursKeys.get(url.origin) === true && !hasKeysHeader(response);
    const isOwn = !isForeignReply && isRecognised(status, errorBody, asked);
    if (isOwn) this.#responded.add(url.origin);
    const hint = hintOf(
      {
        status,
        isRecognised: isOwn,
        isPage: errorBody.shape === "HTML",
        location: this.#redact(header(response, "location") ?? ""),
      },
      { origin: url.origin, ids, tokensFrom: this.#tokens.source.origin, whoami: this.whoami },
    );
    const evidence = { status, isRecognised: isOwn, namesObject: isOwn && namesObject(errorBody, asked) };
    const error = new ApiError(route, { ...errorBody, requestId, ...evidence }, hint);
    // A date in Retry-After is relative to the clock of the service, not to ours.
    const now = Date.parse(header(response, "date") ?? "") || this.#clock.now();
    const hasResponded = this.#responded.has(url.origin) && !hasFallback;
    return errorReplyFailure(error, retryAfterMs(header(response, "retry-after"), now), hasResponded);
  }

  #redact(text: string): string {
    const redacted = this.#tokens.redact(redactSecret(text, this.#options.apiKey));
    return this.#options.redact?.(redacted) ?? redacted;
  }
}
