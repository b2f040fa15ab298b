import type { Pair } from "./data";
import { itemsByUser, type Split } from "./split";

/** How many of the first items are looked at. */
export const cut = 20;

/** What the figures mean. */
export const definitions =
  "Means over the users with held-out items: Recall@20 is the share of a user's held-out items among the first 20, " +
  "NDCG@20 is the sum of 1 / log2(rank + 1) over the hits among the first 20, divided by that of a perfect list.";

/** How well lists find what was held out. */
export interface Quality {
  readonly recall20: number;
  readonly ndcg20: number;
}

/** Measures one list per user; a user without one has found nothing. */
export function quality(lists: ReadonlyMap<string, readonly string[]>, wanted: Split["wanted"]): Quality {
  const each = perUser(lists, wanted);
  return {
    recall20: mean(each.map(({ recall20 }) => recall20)),
    ndcg20: mean(each.map(({ ndcg20 }) => ndcg20)),
  };
}

/** The same for each user alone, in the order of `wanted`. */
export function perUser(lists: ReadonlyMap<string, readonly string[]>, wanted: Split["wanted"]): Quality[] {
  return [...wanted].map(([user, items]) => {
    const gains = (lists.get(user) ?? [])
      .slice(0, cut)
      .map((item, place) => (items.has(item) ? 1 / Math.log2(place + 2) : 0));
    const ideal = Array.from({ length: Math.min(cut, items.size) }, (_, place) => 1 / Math.log2(place + 2));
    return {
      recall20: gains.filter((gain) => gain > 0).length / items.size,
      ndcg20: sum(gains) / sum(ideal),
    };
  });
}

/** The items that most users chose, without those that a user has. */
export function popularity(train: readonly Pair[], users: Iterable<string>): Map<string, string[]> {
  const counts = new Map<string, number>();
  for (const { item } of train) counts.set(item, (counts.get(item) ?? 0) + 1);
  const order = [...counts].sort(([, a], [, b]) => b - a).map(([item]) => item);
  const known = itemsByUser(train);
  const first = (own: ReadonlySet<string> | undefined) => {
    const list: string[] = [];
    for (const item of order) {
      if (list.length === cut) break;
      if (!own?.has(item)) list.push(item);
    }
    return list;
  };
  return new Map([...users].map((user) => [user, first(known.get(user))]));
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** How far a mean of so many values is off by chance. */
export function standardError(values: readonly number[]): number {
  const middle = mean(values);
  const variance = sum(values.map((value) => (value - middle) ** 2)) / (values.length - 1);
  return Math.sqrt(variance / values.length);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
