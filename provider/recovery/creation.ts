import type { Input, Reply, Route } from "../../contract";

/** How a thing is looked for when it is not known whether it was made. */
export interface LostSearch<Created, Listed> {
  /** Creations under the same name share one list of what was there before. */
  readonly name: string;
  list(): Promise<readonly Listed[]>;
  /** One of the list as the lost answer would have told it; undefined where it cannot have come of the call. */
  match(listed: Listed): Created | undefined;
  /** Whether what was made is in the list at once: then what is not in it was not made. */
  readonly listIsImmediate: boolean;
  /** Whether nothing else that is under way could look the same; true unless set. */
  readonly isUnambiguous?: boolean;
  /** What is found, as people know it; its id unless set. */
  describe?(id: string): string;
  /** What to do first where nothing is found. */
  readonly fix?: string;
}

/** A call that creates, and what is known about what it makes. */
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
  /** Whether what an interrupted run made is still there; taken to be so where the API cannot tell. */
  isThere?(created: Reply<R>): Promise<boolean>;
}

/** What was made, and whether an earlier call made it. */
export interface Created<R extends Route> {
  readonly reply: Reply<R>;
  readonly resumed: boolean;
}
