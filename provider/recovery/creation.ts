import type { Input, Reply, Route } from "../../contract";

/** How to name the objects that a call without a response may have created. */
export interface LostSearch<Created, Listed> {
  /** Creations under the same name share one list of what was there before. */
  readonly name: string;
  list(): Promise<readonly Listed[]>;
  /**
   * A listed object as the reply that was lost; undefined if the call cannot have created it. The call carried this
   * name, which may have changed in the program since.
   */
  match(listed: Listed, name: string | undefined): Created | undefined;
  /** The id of the object in the service, from the id of the reply; the same unless set. */
  objectId?(id: string): string;
  /** What to do first if nothing is found. */
  readonly fix?: string;
}

/** A call that creates, and what is known about what it creates. */
export interface Creation<R extends Route, Listed> {
  readonly route: R;
  readonly request: Input<R>;
  idOf(created: Reply<R>): string;
  /** What makes it the same creation when it is tried again; the request unless set. */
  readonly identity?: unknown;
  /** A key that follows from an earlier job, so that it is the same on any machine. */
  readonly key?: string | undefined;
  /** Absent where the API has no list. */
  readonly findLost?: LostSearch<Reply<R>, Listed>;
  /**
   * The reply of a lost call, of which the user names what it created; rejects if there is no such thing. If it is absent,
   * the lifecycle of the resource adopts the object.
   */
  adopt?(id: string): Promise<Reply<R>>;
  /** Whether what an interrupted run created still exists; assumed where the API cannot read it. */
  isThere?(created: Reply<R>): Promise<boolean>;
}

/** What was created, and whether an earlier call created it. */
export interface Created<R extends Route> {
  readonly reply: Reply<R>;
  readonly resumed: boolean;
}
