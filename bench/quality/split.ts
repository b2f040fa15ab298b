import { createRandom } from "../../service/algorithms/random";
import type { Pair } from "./data";

/** Training data, and held-out items by user. */
export interface Split {
  readonly train: readonly Pair[];
  readonly wanted: ReadonlyMap<string, ReadonlySet<string>>;
}

const foldSeed = 42;

/** Holds out the latest share of each user's items. */
export function holdOutLatest(pairs: readonly Pair[], share: number): Split {
  const byUser = new Map<string, Pair[]>();
  for (const pair of pairs) byUser.set(pair.user, [...(byUser.get(pair.user) ?? []), pair]);
  const train: Pair[] = [];
  const held: Pair[] = [];
  for (const own of byUser.values()) {
    const ordered = [...own].sort((a, b) => (a.time ?? 0) - (b.time ?? 0) || (a.item < b.item ? -1 : 1));
    const kept = ordered.length - Math.round(ordered.length * share);
    train.push(...ordered.slice(0, kept));
    held.push(...ordered.slice(kept));
  }
  return { train, wanted: itemsByUser(held) };
}

/** Holds out the last item of each user, and leaves out users with a single item. Equal times keep their order. */
export function leaveLastOut(pairs: readonly Pair[]): Split {
  const last = new Map<string, Pair>();
  const counts = new Map<string, number>();
  for (const pair of pairs) {
    const known = last.get(pair.user);
    if (!known || (pair.time ?? 0) >= (known.time ?? 0)) last.set(pair.user, pair);
    counts.set(pair.user, (counts.get(pair.user) ?? 0) + 1);
  }
  const kept = pairs.filter((pair) => (counts.get(pair.user) ?? 0) > 1);
  const isLast = (pair: Pair) => last.get(pair.user) === pair;
  return { train: kept.filter((pair) => !isLast(pair)), wanted: itemsByUser(kept.filter(isLast)) };
}

/** Holds out a random share of each user's items, which depends on the seed. */
export function holdOutPairs(pairs: readonly Pair[], share: number, seed: number): Split {
  const random = createRandom(seed);
  const train: Pair[] = [];
  const held: Pair[] = [];
  for (const [user, items] of itemsByUser(pairs)) {
    const count = Math.round(items.size * share);
    shuffled([...items], random.below).forEach((item, at) => {
      (at < count ? held : train).push({ user, item });
    });
  }
  return { train, wanted: itemsByUser(held) };
}

/** Holds out all events of some users or items. Each of them is held out in one of several folds. */
export function holdOutWhole(pairs: readonly Pair[], side: "user" | "item", folds: number) {
  const random = createRandom(foldSeed);
  const ids = shuffled([...new Set(pairs.map((pair) => pair[side]))].sort(), random.below);
  return Array.from({ length: folds }, (_, fold) => {
    const cold = new Set(ids.filter((_, at) => at % folds === fold));
    return {
      cold,
      train: pairs.filter((pair) => !cold.has(pair[side])),
      wanted: itemsByUser(pairs.filter((pair) => cold.has(pair[side]))),
    };
  });
}

/** Returns the values in random order. */
export function shuffled<T>(things: readonly T[], below: (bound: number) => number): T[] {
  const mixed = [...things];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = below(at + 1);
    [mixed[at], mixed[other]] = [mixed[other] as T, mixed[at] as T];
  }
  return mixed;
}

/** Returns the items of each user. */
export function itemsByUser(pairs: readonly Pair[]): Map<string, Set<string>> {
  const items = new Map<string, Set<string>>();
  for (const { user, item } of pairs) {
    const own = items.get(user) ?? new Set();
    items.set(user, own.add(item));
  }
  return items;
}
