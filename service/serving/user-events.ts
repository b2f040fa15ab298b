import { type EventRule, pairWeight, type UserItem } from "../algorithms";

/** The events of one user. Items are numbered as in the generator. */
export interface UserEvents {
  /** Items with target events. */
  readonly items: Iterable<number>;
  /** Returns the user's items, each with the weighted sum of its event values. Sums of 0 or less are left out. */
  weights(rule?: EventRule): UserItem[];
  /** Changes whenever the events change. Absent if the events are kept in memory. */
  readonly stamp?: string;
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
    target.map(({ item, weight }) => [item, { target: weight, others: [] as OtherSum[] }]),
  );
  for (const type of Object.keys(rule.weights).sort()) {
    for (const { item, weight: sum } of pairsOf(type)) {
      const pair = sums.get(item) ?? { target: 0, others: [] };
      pair.others.push({ sum, weight: rule.weights[type] as number });
      sums.set(item, pair);
    }
  }
  const pairs = Array.from(sums, ([item, pair]) => ({ item, weight: pairWeight(pair.target, pair.others) }));
  return pairs.filter(({ weight }) => weight > 0);
}
