import type { Clock } from "../clock";
import type { TokenSource } from "./credentials";
import type { RetryPolicy } from "./retry";

/** Time limits of an attempt. */
export interface Timeouts {
  /** Time to open a connection. Default: 10,000. */
  readonly connectMs: number;
  /** Time from the end of the request to the headers of the response. Default: 60,000. */
  readonly headersMs: number;
  /** Time from the headers to the end of the response. Default: 60,000. */
  readonly bodyMs: number;
}

/** Options of a client. */
export interface ClientOptions {
  /** Address of the service. It may contain a path. */
  readonly baseUrl: string;
  /** The developer's key. */
  readonly apiKey: string;
  /** Source of access tokens. */
  readonly token: TokenSource;
  /** Id of an embedded service's data. It identifies the service, whose address may change between runs. */
  readonly instanceId?: string;
  /** Whether to compress request bodies over 1 kB. Default: true. */
  readonly gzip?: boolean;
  /** Maximum number of connections per address. Default: 64. */
  readonly connections?: number;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Called for each failed attempt that will be retried. */
  readonly onRetry?: (message: string) => void;
  /** Called with a message while calls wait: after 2 s of retries or 4 s without a response, then every 10 s. */
  readonly onWait?: ((message: string) => void) | undefined;
  /**
   * Command that shows where the address and the credentials come from, for error messages. Default: `recommender
   * whoami`.
   */
  readonly whoami?: string | undefined;
  /** If aborted, reads end and nothing is retried. Calls in progress that may change something are still completed. */
  readonly stop?: AbortSignal;
  /** Removes texts that must not appear in errors from the service's messages. Credentials are always removed. */
  readonly redact?: (text: string) => string;
  readonly clock?: Clock;
  /** Returns a number between 0 and 1, for the jitter of retries. */
  readonly random?: () => number;
}

/** Options of a call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** If the service honours idempotency keys, several calls with the same key have the effect of one call. */
  readonly idempotencyKey?: string | undefined;
  /** Address to call instead of the base address, such as a project's serving address. */
  readonly baseUrl?: string | undefined;
  /**
   * Whether the caller tries another address next. If so, a response that did not come from the service is not retried.
   */
  readonly hasFallback?: boolean | undefined;
  /** Ids in a serialized body, by wire name. A reply with other ids is not accepted as the reply to this call. */
  readonly ids?: Readonly<Record<string, string>> | undefined;
  /** Called after a response that leaves the outcome unknown. If it returns true, the call fails without a retry. */
  readonly isObsolete?: (() => Promise<boolean>) | undefined;
  /** Additional headers, for extensions. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called if the response belongs to an earlier call with the same key. */
  readonly onReplayed?: (() => void) | undefined;
  /** Called for each failed attempt of this call that will be retried. */
  readonly onRetry?: ((error: Error) => void) | undefined;
}
