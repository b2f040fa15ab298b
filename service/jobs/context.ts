import type { Faults } from "../base/faults";
import type { Serving, ServingContext } from "../serving/serving";

/** Everything that jobs need to run. */
export interface JobContext extends ServingContext {
  readonly faults: Faults;
  readonly serving: Serving;
}
