import type { Pair } from "./data";
import { itemsByUser, type Split } from "./split";

/** The number of items of a list that count. */
export const cut = 20;

/** The means over all users. */
export const definitions =
  "Means over the users with held-out items: Recall@20 is the share of a user's held-out items among the first 20, " +
  "NDCG@20 is the sum of 1 / log2(rank + 1) over the hits among the first 20, divided by that of a perfect list.";

/** Quality of recommendations, measured on held-out items. */
export interface Quality {
  readonly recall20: number;
  readonly ndcg20: number;
}

/** Measures the list of each user. A user without a list scores zero. */
export function quality(lists: ReadonlyMap<string, readonly string[]>, wanted: Split["wanted"]): Quality {
  const each = perUser(lists, wanted);
  return {
    recall20: mean(each.map(({ recall20 }) => recall20)),
    ndcg20: mean(each.map(({ ndcg20 }) => ndcg20)),
  };
}

/** Measures each user separately, in the order of `wanted`. */
export function perUser(lists: ReadonlyMap<string, readonly string[]>, wanted: Split["wanted"]): Quality[] {
  return perUserAt(lists, wanted, cut).map(({ recall, ndcg }) => ({ recall20: recall, ndcg20: ndcg }));
}

/** Measures the first `most` items of each user's list. */
export function qualityAt(
  lists: ReadonlyMap<string, readonly string[]>,
  wanted: Split["wanted"],
  most: number,
): { readonly recall: number; readonly ndcg: number } {
  const each = perUserAt(lists, wanted, most);
  return { recall: mean(each.map(({ recall }) => recall)), ndcg: mean(each.map(({ ndcg }) => ndcg)) };
}

function perUserAt(lists: ReadonlyMap<string, readonly string[]>, wanted: Split["wanted"], most: number) {
  return [...wanted].map(([user, items]) => {
    const gains = (lists.get(user) ?? [])
      .slice(0, most)
      .map((item, place) => (items.has(item) ? 1 / Math.log2(place + 2) : 0));
    const ideal = Array.from({ length: Math.min(most, items.size) }, (_, place) => 1 / Math.log2(place + 2));
    return { recall: gains.filter((gain) => gain > 0).length / items.size, ndcg: sum(gains) / sum(ideal) };
  });
}

/** Recommends the most popular items, without those that the user already has. */
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

/** Returns the standard error of the mean. */
export function standardError(values: readonly number[]): number {
  const average = mean(values);
  const variance = sum(values.map((value) => (value - average) ** 2)) / (values.length - 1);
  return Math.sqrt(variance / values.length);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
