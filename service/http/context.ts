import type { Logger } from "pino";
import type { Clock } from "../base/clock";
import type { Faults } from "../base/faults";
import type { Folder } from "../files/folder";
import type { Jobs } from "../jobs/runner";
import type { Serving } from "../serving/serving";
import type { Store } from "../store/database";
import type { Idempotency } from "./idempotency";
import type { Secrets, Tokens } from "./token";

/** What a service is started with, its defaults filled in. */
export interface Options {
  readonly planShards: number;
  readonly jobDelayMs: number;
  readonly retryDelayMs: number;
  readonly faults: boolean;
}

/** The parts of a running service, made once at its start. */
export interface Context {
  readonly options: Options;
  readonly clock: Clock;
  readonly log: Logger;
  readonly folder: Folder;
  readonly secrets: Secrets;
  readonly store: Store;
  readonly tokens: Tokens;
  readonly idempotency: Idempotency;
  readonly faults: Faults;
  readonly jobs: Jobs;
  readonly serving: Serving;
  readonly startedTs: number;
  /** The base address that callers are told. */
  readonly url: string;
  /** The base address on this machine. */
  readonly localUrl: string;
  /** Aborted when the service closes. */
  readonly closing: AbortSignal;
  /** Sets so many sequence numbers aside for new events and gives the first. */
  takeSeqs(count: number): number;
  /** The last sequence number that was set aside. */
  lastSeq(): number;
  /** Removes what deleted datasets left, in the background. */
  sweep(): void;
}
