import type { Urn } from "./engine";
import type { Step } from "./killed-step";
import type { Session } from "./session";

/** Session and resource of one lifecycle call. */
export interface Context extends Session {
  readonly urn: Urn;
  /** Name of the resource in messages, such as `EventDataset clicks`. */
  readonly title: string;
  /** Time limit for jobs from the option `customTimeouts`. By default the configuration decides. */
  readonly timeoutMs?: number | undefined;
  /** Create or update that the engine has noted in the state before it called the lifecycle. */
  readonly step?: Step | undefined;
}
