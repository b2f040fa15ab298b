import type { Input, Reply, Route } from "../../contract";

/** Search for the objects that a call without a response may have created. */
export interface LostSearch<Created, Listed> {
  /** Key of the list. Creates with the same key share one list of the objects that existed before this run. */
  readonly name: string;
  list(): Promise<readonly Listed[]>;
  /**
   * Converts a listed object to the reply of the lost call. Returns undefined if the call cannot have created it.
   * `name` is the name in the call, which the program may have changed since.
   */
  match(listed: Listed, name: string | undefined): Created | undefined;
  /** Converts the id in the reply to the id of the object in the service. Default: both are the same. */
  objectId?(id: string): string;
  /** Step that the error suggests first. */
  readonly fix?: string;
}

/** Create call and how to recover it. */
export interface Creation<R extends Route, Listed> {
  readonly route: R;
  readonly request: Input<R>;
  idOf(created: Reply<R>): string;
  /** Fields that identify the create when it is tried again. Default: the request. */
  readonly identity?: unknown;
  /** Idempotency key derived from an earlier job, so it is the same on every machine. Default: a random key. */
  readonly key?: string | undefined;
  /** Search for the object of a lost call. Absent if the API cannot list these objects. */
  readonly findLost?: LostSearch<Reply<R>, Listed>;
  /**
   * Returns the reply of a lost call, given the id of its object. Rejects if there is no such object. Without this
   * method, the lifecycle of the resource adopts the object.
   */
  adopt?(id: string): Promise<Reply<R>>;
  /**
   * Returns a reason if the service shows that the object in the reply belongs to another call. Otherwise returns
   * undefined.
   */
  contradiction?(created: Reply<R>, sent: Input<R>): Promise<string | undefined>;
  /** Whether the object that an interrupted run created still exists. Without this method, it is assumed to exist. */
  isThere?(created: Reply<R>): Promise<boolean>;
}

/** Create call of any type, for the code that all creates share. */
export type AnyCreation = Creation<Route, unknown> & { readonly request: { readonly name?: string } };

/** Created object, and whether an earlier call created it. */
export interface Created<R extends Route> {
  readonly reply: Reply<R>;
  readonly resumed: boolean;
}
