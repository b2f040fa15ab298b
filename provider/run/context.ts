import type { Urn } from "./engine";
import type { Session } from "./session";

/** What a lifecycle works with: the session, and the resource it is about. */
export interface Context extends Session {
  readonly urn: Urn;
  /** The resource as people know it: `EventDataset clicks`. */
  readonly title: string;
  /** How long jobs are waited for; what the configuration says unless set. */
  readonly timeoutMs?: number | undefined;
}
