import type { FullReply, Request, RouteName, routes } from "../../contract";
import type { JobContext } from "../jobs/context";
import type { Jobs } from "../jobs/runner";
import type { Db } from "../store/database";
import type { Walks } from "../store/walks";

/** Everything that handlers use. */
export interface Context extends JobContext {
  readonly jobs: Jobs;
  /** Reserves sequence numbers for new events and returns the first. */
  takeSeqs(count: number): number;
  /** Returns the last reserved sequence number. */
  lastSeq(): number;
  /** Long deletions. Repeated calls join the running one. */
  readonly walks: Walks<number>;
  /** Deletes the records of deleted datasets in the background. */
  sweep(): void;
}

/** The call that a handler processes. */
export interface Call extends Context {
  /** Connection for reads. */
  readonly db: Db;
  /** Runs the work in a transaction. The reply is stored with the call's idempotency key in the same transaction. */
  write<T>(work: (db: Db) => Promise<T>): Promise<T>;
  readonly requestId: string;
  /** Creates a signal that is aborted when the caller hangs up. */
  leaving(): AbortSignal;
  /** Headers of the operation that are not in the specification. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The project in the address, if there is one. */
  readonly addressedProject: string | undefined;
  /** The deployment in a stable address, as PROJECT/STACK/RESOURCE. */
  readonly addressedStack: string | undefined;
  /** Counts the call as traffic of a project. The console shows it. */
  countFor(projectId: string): void;
}

/** Executes an operation: takes the request with its defaults, and returns the complete reply. */
export type Handler<K extends RouteName> = (
  input: Request<(typeof routes)[K]>,
  call: Call,
) => Promise<FullReply<(typeof routes)[K]>>;

/** Handlers of the given operations. */
export type Handlers<K extends RouteName> = { readonly [N in K]: Handler<N> };
