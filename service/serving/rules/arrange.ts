import type { AppliedRule } from "../../../contract";

/** An item that a rule pins. */
export interface Pinned {
  readonly item: number;
  /** The first place is 1. */
  readonly position: number;
}

/** A limit on the items with the same value of an attribute. */
export interface GroupLimit {
  readonly max: number;
  /** Returns the values of an item. The limit applies to each of them. */
  valuesOf(item: number): readonly unknown[];
}

/** Changes that rules make to an ordered list of items. */
export interface Arrangement {
  /** Items that may be recommended, in the order of the rules. */
  readonly pins: readonly Pinned[];
  readonly limits: readonly GroupLimit[];
}

/** The best items. The list is complete if there are no further items. */
export interface Listed {
  readonly items: readonly number[];
  readonly isComplete: boolean;
}

/** Number of additional items in the first list, if a rule may leave out some of them. */
const reserve = 100;

/** Factor for the length of the next list, if the items were not enough. */
const increase = 8;

/**
 * Returns the first items of a list as rules arrange them. If the rules leave out too many items, asks for a longer
 * list.
 */
export function arranged(
  limit: number,
  arrangement: Arrangement,
  list: (wanted: number) => Listed,
): readonly number[] {
  const more = arrangement.limits.length > 0 ? reserve : 0;
  for (let wanted = limit + more; ; wanted *= increase) {
    const { items, isComplete } = list(wanted);
    const found = arrange(items, limit, arrangement);
    if (found.length >= limit || isComplete) return found;
  }
}

/** Returns the pins that apply to a list: the first one for each place and for each item. */
export function effectivePins(pins: readonly Pinned[], limit: number): Pinned[] {
  const taken = new Set<number>();
  const seen = new Set<number>();
  return pins.filter(({ item, position }) => {
    if (position > limit || taken.has(position) || seen.has(item)) return false;
    taken.add(position);
    seen.add(item);
    return true;
  });
}

/**
 * Puts pinned items in their places and fills the others in order. A limit never removes a pinned item, but counts it.
 */
function arrange(items: readonly number[], limit: number, { pins, limits }: Arrangement): number[] {
  const first = effectivePins(pins, limit).sort((a, b) => a.position - b.position);
  const pinned = new Set(first.map(({ item }) => item));
  const groups = limits.map((one) => new Groups(one));
  for (const item of pinned) for (const group of groups) group.add(item);
  const found: number[] = [];
  const takePins = () => {
    for (; first[0]?.position === found.length + 1; first.shift()) found.push(first[0].item);
  };
  for (const item of items) {
    takePins();
    if (found.length >= limit) break;
    if (pinned.has(item) || groups.some((group) => !group.hasRoom(item))) continue;
    for (const group of groups) group.add(item);
    found.push(item);
  }
  // If there are too few other items, the remaining pins follow without a gap.
  return [...found, ...first.map(({ item }) => item)].slice(0, limit);
}

/** Counts the items of a list for each value of an attribute. */
class Groups {
  private readonly counts = new Map<string, number>();

  constructor(private readonly limit: GroupLimit) {}

  hasRoom(item: number): boolean {
    return this.keysOf(item).every((key) => (this.counts.get(key) ?? 0) < this.limit.max);
  }

  add(item: number): void {
    for (const key of this.keysOf(item)) this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  private keysOf(item: number): string[] {
    return [...new Set(this.limit.valuesOf(item).map((value) => JSON.stringify(value)))];
  }
}

/** Describes the pins of a list by item. */
export function pinEffects(pins: readonly Pinned[], limit: number): ReadonlyMap<number, AppliedRule> {
  return new Map(
    effectivePins(pins, limit).map(({ item, position }) => [item, { effect: "pinned" as const, position }]),
  );
}
