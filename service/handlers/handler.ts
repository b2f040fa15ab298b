import type { FullReply, Request, RouteName, routes } from "../../contract";
import type { JobContext } from "../jobs/context";
import type { Jobs } from "../jobs/runner";
import type { PublicKey } from "../store/clients";
import type { Db } from "../store/database";
import type { Walks } from "../store/walks";

/** Everything that handlers use. */
export interface Context extends JobContext {
  readonly jobs: Jobs;
  /** Reserves sequence numbers for new events and returns the first. */
  takeSeqs(count: number): number;
  /** Returns the last reserved sequence number. */
  lastSeq(): number;
  /** Running deletions of events. A repeated call joins the deletion that is already running. */
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
  /** Value of `traceparent` for work that the call causes. Undefined if the call is not traced. */
  readonly traceParent: string | undefined;
  /** Creates a signal that is aborted when the caller hangs up. */
  leaving(): AbortSignal;
  /** Headers that the operation accepts in addition to those in the specification. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The project id in the URL, if the call goes to the project's serving address. */
  readonly addressedProject: string | undefined;
  /** PROJECT/STACK/RESOURCE in the URL, if the call goes to the stable address of a deployment. */
  readonly addressedStack: string | undefined;
  /** The public key of a call from a web page. */
  readonly publicKey: PublicKey | undefined;
  /** Counts the call as traffic of a project, which the console shows. */
  countFor(projectId: string): void;
}

/** Executes an operation. Receives the request with defaults filled in, and returns the complete reply. */
export type Handler<K extends RouteName> = (
  input: Request<(typeof routes)[K]>,
  call: Call,
) => Promise<FullReply<(typeof routes)[K]>>;

/** Handlers of the given operations. */
export type Handlers<K extends RouteName> = { readonly [N in K]: Handler<N> };
