import type { Properties } from "../run/state-entry";
import type { Rules } from "./definition";

/** What the binding knows of a call beside its resource. */
export interface Call {
  /** How long the work may take, where the program says so by the option `customTimeouts`. */
  readonly timeoutMs?: number | undefined;
}

/** Why arguments are refused. */
export interface Fault {
  /** Empty: beside a property the engine would print its value. */
  readonly property: string;
  readonly reason: string;
}

/** What changes between the state and the program. */
export interface Difference {
  readonly changes: boolean;
  /** Arguments that differ so that it matters. */
  readonly changed: string[];
  /** Arguments among them that need a replacement. */
  readonly replaces: string[];
  readonly deleteBeforeReplace: boolean;
}

/** A definition as a binding runs it: every call takes and answers what the engine keeps in the state. */
export interface Lifecycle extends Rules {
  /** Says where the configuration comes from, before anything else is called. */
  configure(request: { readonly config: { get(key: string): string | undefined } }): Promise<void>;
  check(olds: Properties, news: Properties): Promise<{ inputs: Properties; failures: Fault[] }>;
  diff(id: string, olds: Properties, news: Properties): Promise<Difference>;
  create(inputs: Properties, call?: Call): Promise<{ id: string; outs: Properties }>;
  /** An empty id means that it is gone. */
  read(id: string, properties?: Properties): Promise<{ id: string; props: Properties; inputs?: Properties }>;
  update(id: string, olds: Properties, news: Properties, call?: Call): Promise<{ outs: Properties }>;
  delete(id: string, properties: Properties): Promise<void>;
}
