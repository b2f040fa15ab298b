import { filterEntries, type Interactions } from "../interactions";
import type { HoldOut } from "./evaluation";

/** Which pairs are held out: the latest ones of each user, or random ones where nothing is known of time. */
export type HoldOutKind = "latest" | "random";

/**
 * Holds out a share of each user's items, the latest ones: the items asked for come after those learned from, as in
 * service. A window of 1 holds out the items before them instead, and so on, and keeps the later ones: without those a
 * trial would learn from less data, which wants other parameters. So only window 0 may be reported as `latest`; further
 * windows serve to choose parameters. A user with nothing before a window is not asked for.
 */
export function holdOutLatest(
  of: Interactions,
  share: number,
  window = 0,
  /** Whether anything of a user is held out. */
  isAsked: (user: number) => boolean = () => true,
): HoldOut {
  const { time = new Float64Array(of.index.length) } = of;
  const held = new Uint8Array(of.index.length);
  for (let user = 0; user < of.users; user++) {
    if (!isAsked(user)) continue;
    const [from, to] = [of.start[user], of.start[user + 1]];
    const wanted = Math.max(1, Math.round((to - from) * share));
    const asked = latestOrder(time.subarray(from, to), (at) => from + at);
    const [begin, end] = [window * wanted, (window + 1) * wanted];
    if (asked.length < 2 || end >= asked.length) continue;
    asked.forEach((at, place) => {
      if (place >= begin && place < end) held[from + at] = 1;
    });
  }
  return {
    train: filterEntries(of, (entry) => held[entry] === 0),
    test: filterEntries(of, (entry) => held[entry] === 1),
  };
}

/** Places in the order of their times, the latest first; those of one time in an order that means nothing. */
export function latestOrder(
  time: ArrayLike<number>,
  keyOf: (at: number) => number = (at) => at,
): Uint32Array {
  return Uint32Array.from({ length: time.length }, (_, at) => at).sort(
    (a, b) => time[b] - time[a] || scattered(keyOf(a)) - scattered(keyOf(b)) || a - b,
  );
}

/** A number for a number, without any order: items of one time must not go by their ids, which say something of their age. */
function scattered(key: number): number {
  let mixed = Math.imul(key ^ (key >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
