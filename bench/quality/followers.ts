import type { Pair } from "./data";
import type { Split } from "./split";

/** Largest distance of two items of a user, and the distance at which their weight has fallen to 1/e. */
const [farthest, fading] = [20, 4];
/** The weight of a pair is divided by the popularity of both items, raised to this power. */
const exponent = 0.3;

/**
 * A simple competitor in thirty lines, which recommends the items that follow a user's items. It counts pairs of items
 * that are up to 20 positions apart, and half as much against the direction of time. Each of the user's items has the
 * weight 1/(1 + age).
 */
export function followers({ train, wanted }: Split, cut: number): Map<string, string[]> {
  const sequences = sequencesOf(train);
  const counts = new Map<string, number>();
  const table = new Map<string, Map<string, number>>();
  const add = (from: string, to: string, weight: number) => {
    const row = table.get(from) ?? new Map<string, number>();
    table.set(from, row.set(to, (row.get(to) ?? 0) + weight));
  };
  for (const items of sequences.values()) {
    items.forEach((item, at) => {
      counts.set(item, (counts.get(item) ?? 0) + 1);
      items.slice(at + 1, at + 1 + farthest).forEach((later, distance) => {
        add(item, later, Math.exp(-distance / fading));
        add(later, item, Math.exp(-distance / fading) / 2);
      });
    });
  }
  const damped = (item: string) => (counts.get(item) ?? 1) ** -exponent;
  const listOf = (items: readonly string[]) => {
    const scores = new Map<string, number>();
    items.toReversed().forEach((item, age) => {
      for (const [next, weight] of table.get(item) ?? [])
        scores.set(next, (scores.get(next) ?? 0) + (weight * damped(item) * damped(next)) / (1 + age));
    });
    for (const item of items) scores.delete(item);
    return [...scores]
      .sort(([, a], [, b]) => b - a)
      .slice(0, cut)
      .map(([item]) => item);
  };
  return new Map([...wanted.keys()].map((user) => [user, listOf(sequences.get(user) ?? [])]));
}

function sequencesOf(train: readonly Pair[]): Map<string, string[]> {
  const sequences = new Map<string, string[]>();
  for (const { user, item } of [...train].sort((a, b) => (a.time ?? 0) - (b.time ?? 0))) {
    const own = sequences.get(user) ?? [];
    sequences.set(user, own);
    own.push(item);
  }
  return sequences;
}
