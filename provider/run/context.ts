import type { Urn } from "./engine";
import type { Step } from "./killed-step";
import type { Session } from "./session";

/** Session and resource of one lifecycle call. */
export interface Context extends Session {
  readonly urn: Urn;
  /** Resource in messages, such as `EventDataset clicks`. */
  readonly title: string;
  /** Time limit for jobs from the option `customTimeouts`. By default the configuration decides. */
  readonly timeoutMs?: number | undefined;
  /** Step that the engine has noted in the state before it called the lifecycle. */
  readonly step?: Step | undefined;
}
