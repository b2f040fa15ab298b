import type { FullReply, Request, RouteName, routes } from "../../contract";
import type { JobContext } from "../jobs/context";
import type { Jobs } from "../jobs/runner";
import type { Db } from "../store/database";
import type { Walks } from "../store/walks";

/** What the handlers work with. */
export interface Context extends JobContext {
  readonly jobs: Jobs;
  /** Sets so many sequence numbers aside for new events and gives the first. */
  takeSeqs(count: number): number;
  /** The last sequence number that was set aside. */
  lastSeq(): number;
  /** Deletions that take long, shared by the calls that ask for the same. */
  readonly walks: Walks<number>;
  /** Removes what deleted datasets left, in the background. */
  sweep(): void;
}

/** One call under way, as a handler sees it. */
export interface Call extends Context {
  /** For reading. */
  readonly db: Db;
  /** Carries out all of the work or nothing, and keeps its reply for the call's idempotency key in the same stroke. */
  write<T>(work: (db: Db) => Promise<T>): Promise<T>;
  readonly requestId: string;
  /** Creates a signal that is aborted when the caller hangs up. */
  leaving(): AbortSignal;
  /** The headers that the operation takes beyond the specification. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The project that the address names, where it names one. */
  readonly addressedProject: string | undefined;
  /** The deployment of a stack that a stable address names, as PROJECT/STACK/RESOURCE. */
  readonly addressedStack: string | undefined;
  /** Counts the call as traffic of a project, which the console shows. */
  countFor(projectId: string): void;
}

/** Carries out one operation: the request with its defaults filled in, to the whole reply. */
export type Handler<K extends RouteName> = (
  input: Request<(typeof routes)[K]>,
  call: Call,
) => Promise<FullReply<(typeof routes)[K]>>;

/** The handlers of the named operations. */
export type Handlers<K extends RouteName> = { readonly [N in K]: Handler<N> };
