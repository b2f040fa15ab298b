import type { Sequence } from "../order/rule";

/** A user's vector, the user's items, which determine similar users, and the user's last items. */
export interface Preferences {
  readonly vector: Float32Array;
  readonly chosen: ArrayLike<number>;
  /** The user's last items; absent if the model does not use the order of events. */
  readonly sequence?: Sequence | undefined;
}
