import { type EventRule, pairWeight, type UserItem } from "../algorithms";

/** The events of one user. Items are numbered as in the generator. */
export interface UserEvents {
  /** Items with target events. */
  readonly items: Iterable<number>;
  /**
   * Returns the sum of the user's event values for each item.
   * @param type a type other than the target event type; undefined for the target event type
   */
  sums(type?: string): UserItem[];
  /** Returns the user's items, each with the weighted sum of its event values. Sums of 0 or less are left out. */
  weights(rule?: EventRule): UserItem[];
  /** Changes whenever the events change. Absent if the events are kept in memory. */
  readonly stamp?: string;
}

/** Returns the later of two times. One or both may be unknown. */
function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** Returns the items with a sum above 0. */
export function positive(pairs: readonly UserItem[]): UserItem[] {
  return pairs.filter(({ weight }) => weight > 0);
}

interface OtherSum {
  readonly sum: number;
  readonly weight: number;
}

/** Adds the weighted events of other types to the weights of the target events, as a training does. */
export function withOtherTypes(
  target: UserItem[],
  rule: EventRule | undefined,
  pairsOf: (type: string) => readonly UserItem[],
): UserItem[] {
  if (!rule) return target;
  const sums = new Map(
    target.map(({ item, weight, time }) => [item, { target: weight, time, others: [] as OtherSum[] }]),
  );
  for (const type of Object.keys(rule.weights).sort()) {
    for (const { item, weight: sum, time } of pairsOf(type)) {
      const pair = sums.get(item) ?? { target: 0, time, others: [] };
      pair.time = later(pair.time, time);
      pair.others.push({ sum, weight: rule.weights[type] as number });
      sums.set(item, pair);
    }
  }
  const pairs = Array.from(sums, ([item, { target, time, others }]) => ({
    item,
    weight: pairWeight(target, others),
    ...(time !== undefined && { time }),
  }));
  return pairs.filter(({ weight }) => weight > 0);
}
