import type { Properties } from "../run/state-entry";
import type { Declaration, Rules } from "./definition";

/** Options of one call from the engine. */
export interface Call {
  /** Time limit from the option `customTimeouts`. */
  readonly timeoutMs?: number | undefined;
}

/** Reason why arguments are invalid. */
export interface Fault {
  /** Always empty: the engine would print the value of a named property, which may be secret. */
  readonly property: string;
  readonly reason: string;
}

/** Result of comparing the state with the program. */
export interface Difference {
  readonly changes: boolean;
  /** Arguments whose change has an effect. */
  readonly changed: string[];
  /** Changed arguments that require a replacement. */
  readonly replaces: string[];
}

/** Source of the configuration. */
export interface ConfigureRequest {
  readonly config: { get(key: string): string | undefined };
}

/** Lifecycle of a resource type, as a binding calls it. Each call takes and returns the properties in the state. */
export interface Lifecycle extends Rules {
  /** Sets the configuration. Must be called first. */
  configure(request: ConfigureRequest): Promise<void>;
  check(olds: Properties, news: Properties): Promise<{ inputs: Properties; failures: Fault[] }>;
  diff(id: string, olds: Properties, news: Properties): Promise<Difference>;
  create(inputs: Properties, call?: Call): Promise<{ id: string; outs: Properties }>;
  /** Returns an empty id if the object no longer exists. */
  read(id: string, properties?: Properties): Promise<{ id: string; props: Properties; inputs?: Properties }>;
  update(id: string, olds: Properties, news: Properties, call?: Call): Promise<{ outs: Properties }>;
  delete(id: string, properties: Properties): Promise<void>;
}

/** Lifecycle that does not mask secrets. */
export interface Steps extends Omit<Lifecycle, keyof Rules | "check">, Pick<Declaration, "config"> {
  /** Returns the failures as texts, without a property. */
  check(olds: Properties, news: Properties): Promise<{ inputs: Properties; failures: string[] }>;
}
