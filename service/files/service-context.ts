import type { Logger } from "pino";
import type { Addresses } from "../base/addresses";
import type { Clock } from "../base/clock";
import type { Metrics } from "../base/metrics";
import type { RecentCalls } from "../base/recent-calls";
import type { Store } from "../store/database";
import type { Role } from "../store/processes";
import type { DataDirectory, Secrets } from "./data-directory";
import type { Files } from "./storage/files";

/** Options of a running service, with defaults filled in. */
export interface Options {
  readonly planShards: number;
  readonly retryDelayMs: number;
  readonly leaseMs: number;
  readonly faults: boolean;
  /** Whether the console is served. */
  readonly console: boolean;
  /** Shell command that trains models. If undefined, the service trains models itself, with the algorithm G1. */
  readonly trainer?: string | undefined;
  /** Number of threads that all trainings share. */
  readonly threads: number;
  /** Origins whose pages may use every public key. */
  readonly allowedOrigins: readonly string[];
  /** Proxies whose `X-Forwarded-For` header is used. */
  readonly trustedProxies: readonly string[];
}

/** Parts of a running service that every module uses. Other modules extend this interface with their own parts. */
export interface ServiceContext {
  readonly options: Options;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly recentCalls: RecentCalls;
  readonly dataDirectory: DataDirectory;
  /** Storage of models and results. */
  readonly files: Files;
  readonly secrets: Secrets;
  readonly store: Store;
  readonly addresses: Addresses;
  /** Identifies this process among all processes that use the same database. */
  readonly processId: string;
  readonly role: Role;
  /** Aborted when the service closes. */
  readonly closing: AbortSignal;
}
