import { filterEntries, type Interactions } from "../interactions";
import type { HoldOut } from "./evaluation";

/** Which pairs are held out: the latest ones of each user, or random ones if there are no times. */
export type HoldOutKind = "latest" | "random";

/**
 * Holds out the latest share of each user's items, so they are later than the items to learn from, as in real use.
 *
 * Window 1 holds out the items before the latest ones, and so on. The later items stay in the training part, because
 * with less data other parameters would be best. So only window 0 may be reported as `latest`. The other windows are
 * only used to choose parameters. Users without items before a window are left out.
 */
export function holdOutLatest(
  of: Interactions,
  share: number,
  window = 0,
  /** Whether to hold out items of this user. */
  isHeld: (user: number) => boolean = () => true,
): HoldOut {
  const { time = new Float64Array(of.index.length) } = of;
  const held = new Uint8Array(of.index.length);
  for (let user = 0; user < of.users; user++) {
    if (!isHeld(user)) continue;
    const [from, to] = [of.start[user], of.start[user + 1]];
    const wanted = Math.max(1, Math.round((to - from) * share));
    const order = latestOrder(time.subarray(from, to), (at) => from + at);
    const [begin, end] = [window * wanted, (window + 1) * wanted];
    if (order.length < 2 || end >= order.length) continue;
    order.forEach((at, place) => {
      if (place >= begin && place < end) held[from + at] = 1;
    });
  }
  return {
    train: filterEntries(of, (entry) => held[entry] === 0),
    test: filterEntries(of, (entry) => held[entry] === 1),
  };
}

/** Returns positions in the order of their times, latest first. Equal times are in an arbitrary but fixed order. */
export function latestOrder(
  time: ArrayLike<number>,
  keyOf: (at: number) => number = (at) => at,
): Uint32Array {
  return Uint32Array.from({ length: time.length }, (_, at) => at).sort(
    (a, b) => time[b] - time[a] || hash32(keyOf(a)) - hash32(keyOf(b)) || a - b,
  );
}

/** Hashes a number. Items with equal times must not be ordered by their ids, because ids often reflect age. */
function hash32(key: number): number {
  let mixed = Math.imul(key ^ (key >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
