import { type Interactions, itemCounts, transpose } from "../interactions";
import { power } from "../neighbours";
import { nthLowest } from "../top";
import { amountsOf, LAST, latestFirst, type OrderRule, stepOf } from "./rule";

/** For each item, the items that users chose after it or shortly before it. Stored in rows like `Interactions`. */
export interface Transitions {
  readonly start: Uint32Array;
  readonly index: Uint32Array;
  /** Sum over all users of what `amountsOf` returns. */
  readonly amount: Uint32Array;
}

/** Largest number of pairs of an item. */
const MOST_PAIRS_OF_ITEM = 128;
/** Limit of all pairs, which bounds the memory if there are very many items. */
const MOST_PAIRS = 8_000_000;
/** Every item may keep this many pairs, even above that limit. */
const FEWEST_PAIRS_OF_ITEM = 8;

/** Returns how many pairs of each item are kept. */
export function pairsOfItem(items: number): number {
  return Math.max(FEWEST_PAIRS_OF_ITEM, Math.min(MOST_PAIRS_OF_ITEM, Math.floor(MOST_PAIRS / items)));
}

/** Converts the times of interactions to the unit of the model. */
export function stepsOf(
  { index, time }: Pick<Interactions, "index" | "time">,
  rule: Pick<OrderRule, "firstTime" | "timeStep">,
): Uint32Array {
  return Uint32Array.from({ length: index.length }, (_, at) => stepOf(rule, time?.[at] ?? rule.firstTime));
}

/**
 * Counts the pairs of items in the users' sequences, and keeps the highest of each item. Goes through the items one
 * after another, so it needs little memory besides the result.
 */
export function transitionsOf(of: Interactions, steps: Uint32Array, rule: OrderRule): Transitions {
  const { items } = of;
  const { sequence, times, userOf } = sequencesOf(of, steps);
  const occurrences = transpose({ ...of, index: sequence, weight: new Float32Array(sequence.length) });
  const places = placesOf(sequence, occurrences.start);
  const popularity = Float64Array.from(itemCounts(of), (count) => power(count, rule.popularityExponent));
  const most = pairsOfItem(items);
  const sums = new Float64Array(items);
  const rows = new RowCollector(items);
  const amountOf = amountsOf(rule);
  for (let item = 0; item < items; item++) {
    const found: number[] = [];
    for (let at = occurrences.start[item]; at < occurrences.start[item + 1]; at++) {
      const place = places[at];
      const user = userOf[place];
      const [from, to] = [of.start[user], of.start[user + 1]];
      for (let other = Math.max(from, place - LAST); other < to && other <= place + LAST; other++) {
        if (other === place) continue;
        const gap = Math.abs(times[other] - times[place]);
        const amount = amountOf(Math.abs(other - place), gap, other > place);
        if (amount === 0) continue;
        if (sums[sequence[other]] === 0) found.push(sequence[other]);
        sums[sequence[other]] += amount;
      }
    }
    rows.add(highest(found, sums, popularity, most), sums);
    for (const other of found) sums[other] = 0;
  }
  return rows.whole();
}

/** Sorts each user's items by time, earliest first. */
function sequencesOf({ users, start, index }: Interactions, steps: Uint32Array) {
  const sequence = new Uint32Array(index.length);
  const times = new Uint32Array(index.length);
  const userOf = new Uint32Array(index.length);
  for (let user = 0; user < users; user++) {
    const [from, to] = [start[user], start[user + 1]];
    const [items, own] = [index.subarray(from, to), steps.subarray(from, to)];
    const order = latestFirst(items, own);
    for (let at = 0; at < order.length; at++) {
      const place = to - 1 - at;
      sequence[place] = items[order[at]];
      times[place] = own[order[at]];
      userOf[place] = user;
    }
  }
  return { sequence, times, userOf };
}

/** Returns the places of each item in the sequences. */
function placesOf(sequence: Uint32Array, start: Uint32Array): Uint32Array {
  const next = start.slice();
  const places = new Uint32Array(sequence.length);
  sequence.forEach((item, place) => {
    places[next[item]++] = place;
  });
  return places;
}

/** Returns the items with the highest sums after normalization by popularity, highest first. */
function highest(found: number[], sums: Float64Array, popularity: Float64Array, most: number): number[] {
  const value = (item: number) => sums[item] * popularity[item];
  let kept = found;
  if (found.length > most) {
    const lowest = nthLowest(Float32Array.from(found, value), found.length - most);
    kept = found.filter((item) => Math.fround(value(item)) >= lowest);
  }
  return kept.sort((a, b) => value(b) - value(a) || a - b).slice(0, most);
}

/** Largest number that a file can hold. */
const LARGEST = 2 ** 32 - 1;

/** Collects the rows of a table whose size is not known in advance. */
class RowCollector {
  private readonly start: Uint32Array;
  private index = new Uint32Array(1024);
  private amount = new Uint32Array(1024);
  private rows = 0;

  constructor(items: number) {
    this.start = new Uint32Array(items + 1);
  }

  add(items: readonly number[], sums: ArrayLike<number>): void {
    let length = this.start[this.rows];
    while (length + items.length > this.index.length) {
      this.index = larger(this.index);
      this.amount = larger(this.amount);
    }
    for (const item of items) {
      this.index[length] = item;
      this.amount[length++] = Math.min(LARGEST, sums[item]);
    }
    this.start[++this.rows] = length;
  }

  whole(): Transitions {
    const length = this.start[this.rows];
    return { start: this.start, index: this.index.slice(0, length), amount: this.amount.slice(0, length) };
  }
}

function larger(values: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(values.length * 2);
  copy.set(values);
  return copy;
}

/** Subtracts a user from the amounts, in place. `steps` are the times of the user's items. */
export function subtractUser(
  { start, index, amount }: Transitions,
  rule: OrderRule,
  items: ArrayLike<number>,
  steps: ArrayLike<number>,
): void {
  const order = latestFirst(items, steps);
  const amountOf = amountsOf(rule);
  const subtract = (from: number, to: number, by: number) => {
    for (let at = start[from]; at < start[from + 1]; at++) {
      if (index[at] === to) amount[at] = Math.max(0, amount[at] - by);
    }
  };
  for (let later = 0; later < order.length; later++) {
    for (let earlier = later + 1; earlier < order.length && earlier - later <= LAST; earlier++) {
      const gap = steps[order[later]] - steps[order[earlier]];
      subtract(items[order[earlier]], items[order[later]], amountOf(earlier - later, gap, true));
      subtract(items[order[later]], items[order[earlier]], amountOf(earlier - later, gap, false));
    }
  }
}

/** Leaves out pairs that no remaining user has, so the table no longer shows that somebody had them. */
export function withoutEmpty({ start, index, amount }: Transitions): Transitions {
  const own = new Uint32Array(start.length);
  const kept = amount.map((value) => (value > 0 ? 1 : 0));
  for (let item = 0; item + 1 < start.length; item++) {
    own[item + 1] = own[item];
    for (let at = start[item]; at < start[item + 1]; at++) own[item + 1] += kept[at];
  }
  const isKept = (_: number, at: number) => kept[at] === 1;
  return { start: own, index: index.filter(isKept), amount: amount.filter(isKept) };
}
