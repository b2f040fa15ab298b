import { availableParallelism } from "node:os";
import { isLoopback } from "./base/addresses";
import type { Clock } from "./base/clock";
import { trustedProxies } from "./base/network";
import { webOrigin } from "./base/web-origin";
import type { LogTarget } from "./files/log";
import type { Options } from "./files/service-context";
import type { Role } from "./store/processes";

/** Options of {@link startService}. */
export interface StartOptions {
  /** Data directory. By default a temporary one, which is deleted when the service closes. */
  readonly dataDir?: string;
  /**
   * Bucket for models and results, such as `s3://models/shop`. By default, they are in the data directory or the
   * database.
   */
  readonly files?: string;
  /** URL of a PostgreSQL database to use instead of the data directory, which lets several processes share the work. */
  readonly store?: string;
  /** Role of this process if the data is in PostgreSQL: serve API calls, run jobs, or `all` for both; default `all`. */
  readonly role?: Role;
  /**
   * API key. Required with PostgreSQL, where all processes need the same key. Otherwise the key is in the data
   * directory.
   */
  readonly key?: string;
  /**
   * Port to listen on. By default, or if 0, the port stored in the data directory. If none is stored, a free port,
   * which is then stored.
   */
  readonly port?: number;
  /** Interface to listen on; default 127.0.0.1, because the key is sent unencrypted. */
  readonly host?: string;
  /** Base URL of the addresses in responses, if clients do not reach the service at its local address. */
  readonly publicUrl?: string;
  /** Maximum number of shards of all event datasets together; default 100. */
  readonly planShards?: number;
  /** Delay before each job in milliseconds, for tests; default 0. */
  readonly jobDelayMs?: number;
  /** Milliseconds before the first retry of a failed job; each further retry waits four times as long. Default 1000. */
  readonly retryDelayMs?: number;
  /**
   * Milliseconds without a lease renewal after which another process of the database takes over a job; default 15,000.
   */
  readonly leaseMs?: number;
  /** Shell command that trains models, as docs/training.md describes. By default the service trains them. */
  readonly trainer?: string;
  /** Number of threads that all trainings of this process share; by default one per core. */
  readonly threads?: number;
  /** Whether faults can be injected at run time; default false. */
  readonly faults?: boolean;
  /** Whether to serve the console; by default only if `host` and `publicUrl` are addresses of this machine. */
  readonly console?: boolean;
  /** Origins whose pages may use every public key, in addition to the origins of each key. Default: none. */
  readonly allowOrigin?: readonly string[];
  /**
   * Addresses or networks of proxies whose `X-Forwarded-For` header names the caller. By default, the address of the
   * connection counts, because everybody can send this header.
   */
  readonly trustProxy?: readonly string[];
  /** Minutes without a call or a job after which the service closes; by default it never closes when idle. */
  readonly idleMinutes?: number;
  /** Called after the service has closed because it was idle. */
  readonly onIdle?: () => void;
  readonly clock?: Clock;
  readonly log?: LogTarget;
}

/** Fills in the defaults. */
export function resolveOptions(options: StartOptions): Options {
  const { planShards = 100, retryDelayMs = 1000, leaseMs = 15_000, faults = false, trainer } = options;
  const { threads = availableParallelism() } = options;
  const isPrivate = [options.host, options.publicUrl].every(
    (address) => address === undefined || isLoopback(address),
  );
  return {
    planShards,
    retryDelayMs,
    leaseMs,
    faults,
    console: options.console ?? isPrivate,
    trainer,
    threads,
    allowedOrigins: (options.allowOrigin ?? []).map(webOrigin),
    trustedProxies: trustedProxies(options.trustProxy ?? []),
  };
}

/** Returns the API key of a service on PostgreSQL. */
export function requireKey({ key }: StartOptions): string {
  if (key !== undefined && key.length >= 20) return key;
  throw new Error(
    "A service on PostgreSQL needs an API key of at least 20 characters, the same in all of its processes. " +
      "Set RECOMMENDER_API_KEY, for example to the output of `openssl rand -base64 24`.",
  );
}
