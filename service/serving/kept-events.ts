import { LRUCache } from "lru-cache";
import { type EventRule, pairWeight, type UserItem } from "../algorithms";
import type { Places } from "../base/places";
import { weightOf } from "../store/snapshot";

/** Bytes of all events that are kept. */
const mostKeptBytes = 24 * 1024 * 1024;

/** Bytes of an entry beside its ids and pairs: the objects that hold them. */
const entryBytes = 600;

/** Bytes of one pair of a user and an item. */
const pairBytes = 8;

/** More than one user has; a place times this is a number still. */
const mostEvents = 2 ** 26;

/** The events of one user, in the places of the generator. */
export interface UserEvents {
  /** Those of the target events. */
  readonly items: Iterable<number>;
  /** Those that a model counts, with what a training would see: the sums of their values, where these are above 0. */
  weights(rule?: EventRule): UserItem[];
  /** The same as long as the events are. */
  readonly stamp?: string;
}

/** Items in their places, with the sums of their events' values. */
type Sums = readonly [items: Uint32Array, sums: Float32Array];

class Read implements UserEvents {
  constructor(
    readonly stamp: string,
    private readonly target: Sums,
    private readonly others: ReadonlyMap<string, Sums>,
  ) {}

  get items(): Uint32Array {
    return this.target[0];
  }

  /** Whether the user has no events at all, on known items or others. */
  get isEmpty(): boolean {
    return this.stamp.startsWith("0:");
  }

  /** Bytes that it takes, without the objects that every entry has. */
  get bytes(): number {
    let bytes = 2 * this.stamp.length + pairBytes * this.items.length;
    for (const [type, [items]] of this.others)
      bytes += entryBytes + 2 * type.length + pairBytes * items.length;
    return bytes;
  }

  weights(rule?: EventRule): UserItem[] {
    return withOtherTypes(above(this.target), rule, (type) => above(this.others.get(type) ?? none));
  }
}

const none: Sums = [new Uint32Array(0), new Float32Array(0)];

function above([items, sums]: Sums): UserItem[] {
  const pairs: UserItem[] = [];
  sums.forEach((weight, at) => {
    if (weight > 0) pairs.push({ item: items[at] as number, weight });
  });
  return pairs;
}

/** The pairs of the target event with what events of other types add to them. */
export function withOtherTypes(
  target: UserItem[],
  rule: EventRule | undefined,
  pairsOf: (type: string) => readonly UserItem[],
): UserItem[] {
  if (!rule) return target;
  const sums = new Map(target.map(({ item, weight }) => [item, { target: weight, others: [] as Added[] }]));
  for (const type of Object.keys(rule.weights).sort()) {
    for (const { item, weight: sum } of pairsOf(type)) {
      const of = sums.get(item) ?? { target: 0, others: [] };
      of.others.push({ sum, weight: rule.weights[type] as number });
      sums.set(item, of);
    }
  }
  const pairs = Array.from(sums, ([item, of]) => ({ item, weight: pairWeight(of.target, of.others) }));
  return pairs.filter(({ weight }) => weight > 0);
}

interface Added {
  readonly sum: number;
  readonly weight: number;
}

/** The events of users who were answered recently. An entry is used only if the store reports the same stamp. */
export class KeptEvents {
  private readonly kept: LRUCache<string, Read>;
  /** Room for those of one user: arrays that are let go of for each leave holes in memory. */
  private keys = new Float64Array(1024);

  constructor(
    private readonly places: Places,
    private readonly targetEventType: string,
    maxSize = mostKeptBytes,
  ) {
    this.kept = new LRUCache({
      maxSize,
      sizeCalculation: (read, userId) => entryBytes + 2 * userId.length + read.bytes,
    });
  }

  /** What is kept of a user's events. */
  find(userId: string): UserEvents | undefined {
    return this.kept.get(userId);
  }

  /** Keeps a user's events: a list of their items, one of their values and, where there are several, one of their types, as JSON. */
  keep(userId: string, stamp: string, events: string): UserEvents {
    const [ids, values, types] = JSON.parse(events) as [string[], number[], string[]?];
    const of = (type: string): Sums => {
      const are = (_: unknown, at: number) => types?.[at] === type;
      return types ? this.summed(ids.filter(are), values.filter(are)) : this.summed(ids, values);
    };
    const others = new Set(types);
    others.delete(this.targetEventType);
    const read = new Read(
      stamp,
      of(this.targetEventType),
      new Map(Array.from(others, (type) => [type, of(type)])),
    );
    // Anybody can ask for users who do not exist, and their events are read quickly.
    if (read.isEmpty) this.kept.delete(userId);
    else this.kept.set(userId, read);
    return read;
  }

  /** Drops all entries, because items that had no place may have one now. */
  clear(): void {
    this.kept.clear();
  }

  /** The places of the items that have one, ascending, with the sums of their events' values: by sorting, for a map takes thrice as long. */
  private summed(ids: readonly string[], values: readonly number[]): Sums {
    if (this.keys.length < ids.length) this.keys = new Float64Array(2 * ids.length);
    const { keys } = this;
    let length = 0;
    ids.forEach((id, at) => {
      const place = this.places.find(id);
      if (place !== undefined) keys[length++] = place * mostEvents + at;
    });
    keys.subarray(0, length).sort();
    const placeAt = (at: number) => Math.floor((keys[at] as number) / mostEvents);
    let count = 0;
    for (let at = 0; at < length; at++) if (at === 0 || placeAt(at) !== placeAt(at - 1)) count++;
    const [items, sums] = [new Uint32Array(count), new Float32Array(count)];
    for (let at = 0, to = 0; at < length; to++) {
      const place = placeAt(at);
      let sum = 0;
      for (; at < length && placeAt(at) === place; at++)
        sum += weightOf(values[(keys[at] as number) % mostEvents] as number);
      items[to] = place;
      sums[to] = sum;
    }
    return [items, sums];
  }
}
