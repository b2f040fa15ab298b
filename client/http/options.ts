import type { Clock } from "../clock";
import type { TokenSource } from "./credentials";
import type { RetryPolicy } from "./retry";

/** Time limits of one attempt. */
export interface Timeouts {
  /** To open a connection. */
  readonly connectMs: number;
  /** From the request's end to the response's headers. */
  readonly headersMs: number;
  /** From the response's headers to the end of its body. */
  readonly bodyMs: number;
}

/** The options of a client. */
export interface ClientOptions {
  /** Address of the service; a path in it is kept. */
  readonly baseUrl: string;
  /** The developer's key. */
  readonly apiKey: string;
  /** Where access tokens come from. */
  readonly token: TokenSource;
  /** Of the data of an embedded service, whose address may change. */
  readonly instanceId?: string;
  /** Whether bodies over 1 kB go compressed; true unless set. */
  readonly gzip?: boolean;
  /** Connections kept to the service at most; 64 unless set. */
  readonly connections?: number;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Called for every failed attempt that will be retried. */
  readonly onRetry?: (message: string) => void;
  /** Called with one sentence while calls wait for the service: after 2 s, and then every 10 s. */
  readonly onWait?: ((message: string) => void) | undefined;
  /** The command that shows where address and credentials come from, for hints; `recommender whoami` unless set. */
  readonly whoami?: string | undefined;
  /** Once it is aborted nothing is tried again, and calls that only read end; one that may change something is finished. */
  readonly stop?: AbortSignal;
  /** Takes out of what the service says what no message may show, beside the credentials. */
  readonly redact?: (said: string) => string;
  readonly clock?: Clock;
  /** Between 0 and 1; spreads the retries. */
  readonly random?: () => number;
}

/** What one call may add. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Makes the same call under the same key one call, with a service that honours it. */
  readonly idempotencyKey?: string | undefined;
  /** Address to call instead of the base address: a project's serving address. */
  readonly baseUrl?: string | undefined;
  /** Whether the caller tries another address next: a reply that is not the service's own is not waited out then. */
  readonly hasFallback?: boolean | undefined;
  /** Further headers, for what a service does beyond the specification. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called if the response is that of an earlier call under the same key. */
  readonly onReplayed?: (() => void) | undefined;
  /** Called for every failed attempt of this call that will be retried. */
  readonly onRetry?: ((error: Error) => void) | undefined;
}
