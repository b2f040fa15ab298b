import type { Faults } from "../base/faults";
import type { Serving, ServingContext } from "../serving/serving";

/** What the jobs are carried out with. */
export interface JobContext extends ServingContext {
  readonly faults: Faults;
  readonly serving: Serving;
}
