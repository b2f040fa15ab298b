import type { Logger } from "pino";
import type { Addresses } from "../base/addresses";
import type { Clock } from "../base/clock";
import type { Metrics } from "../base/metrics";
import type { RecentCalls } from "../base/recent-calls";
import type { Store } from "../store/database";
import type { Role } from "../store/processes";
import type { Folder, Secrets } from "./folder";
import type { Files } from "./places/files";

/** What a service is started with, its defaults filled in. */
export interface Options {
  readonly planShards: number;
  readonly retryDelayMs: number;
  readonly leaseMs: number;
  readonly faults: boolean;
  /** Whether the web page can be opened. */
  readonly console: boolean;
  /** The shell command that trains models; G1 in this process where left out. */
  readonly trainer?: string | undefined;
  /** Threads that trainings use together. */
  readonly threads: number;
}

/** What every part of a running service stands on; each room above adds what it needs. */
export interface Basis {
  readonly options: Options;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly recentCalls: RecentCalls;
  readonly folder: Folder;
  /** Models and results. */
  readonly files: Files;
  readonly secrets: Secrets;
  readonly store: Store;
  readonly addresses: Addresses;
  /** Tells this process from all others. */
  readonly processId: string;
  readonly role: Role;
  /** Aborted when the service closes. */
  readonly closing: AbortSignal;
}
