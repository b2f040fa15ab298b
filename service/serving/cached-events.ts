import { LRUCache } from "lru-cache";
import type { EventRule, UserItem } from "../algorithms";
import type { IdIndex } from "../base/id-index";
import { weightOf } from "../store/snapshot";
import { positive, type UserEvents, withOtherTypes } from "./user-events";

/** Maximum size of all cached events, in bytes. */
const maxBytes = 24 * 1024 * 1024;

/** Estimated size of the objects of one entry in bytes, without its ids and pairs. */
const entryBytes = 600;

/** Bytes of one item with its sum. */
const pairBytes = 8;

/** Bytes of the time of an item. */
const timeBytes = 8;

/** Upper limit of a user's number of events. An item number multiplied by it is still a safe integer. */
const mostEvents = 2 ** 26;

/**
 * Item numbers in ascending order, and for each item the sum of its events' values and, if the models use times, the
 * time of the last event.
 */
type Sums = readonly [items: Uint32Array, sums: Float32Array, times?: Float64Array];

class CachedUser implements UserEvents {
  constructor(
    readonly stamp: string,
    private readonly target: Sums,
    private readonly others: ReadonlyMap<string, Sums>,
  ) {}

  get items(): Uint32Array {
    return this.target[0];
  }

  /** Whether the user has no events at all, not even on unknown items. */
  get isEmpty(): boolean {
    return this.stamp.startsWith("0:");
  }

  /** Estimated size of the entry in bytes, without the objects that every entry has. */
  get bytes(): number {
    let bytes = 2 * this.stamp.length + bytesOf(this.target);
    for (const [type, sums] of this.others) bytes += entryBytes + 2 * type.length + bytesOf(sums);
    return bytes;
  }

  sums(type?: string): UserItem[] {
    return pairsOf(type === undefined ? this.target : (this.others.get(type) ?? none));
  }

  weights(rule?: EventRule): UserItem[] {
    return withOtherTypes(positive(this.sums()), rule, (type) => positive(this.sums(type)));
  }
}

const none: Sums = [new Uint32Array(0), new Float32Array(0)];

function bytesOf([items, , times]: Sums): number {
  return items.length * (pairBytes + (times ? timeBytes : 0));
}

function pairsOf([items, sums, times]: Sums): UserItem[] {
  return Array.from(items, (item, at) => ({
    item,
    weight: sums[at] as number,
    ...(times && { time: times[at] as number }),
  }));
}

/**
 * Caches the events of users who recently got recommendations. An entry is used only if the store reports the same
 * stamp.
 */
export class CachedEvents {
  private readonly users: LRUCache<string, CachedUser>;
  /** Reused for each user, because a new array each time fragments the memory. */
  private keys = new Float64Array(1024);

  constructor(
    private readonly places: IdIndex,
    private readonly targetEventType: string,
    maxSize = maxBytes,
  ) {
    this.users = new LRUCache({
      maxSize,
      sizeCalculation: (read, userId) => entryBytes + 2 * userId.length + read.bytes,
    });
  }

  /** Returns the cached events of a user. */
  find(userId: string): UserEvents | undefined {
    return this.users.get(userId);
  }

  /**
   * Caches the events of a user. `events` is JSON: a list of item ids, a list of values, a list of types if the models
   * use several event types, and a list of times if a model uses times.
   */
  keep(userId: string, stamp: string, events: string): UserEvents {
    const [ids, values, types, times] = JSON.parse(events) as [string[], number[], string[]?, number[]?];
    const sumsOf = (type: string): Sums => {
      const isOfType = (_: unknown, at: number) => types?.[at] === type;
      return types
        ? this.sums(ids.filter(isOfType), values.filter(isOfType), times?.filter(isOfType))
        : this.sums(ids, values, times);
    };
    const others = new Set(types);
    others.delete(this.targetEventType);
    const read = new CachedUser(
      stamp,
      sumsOf(this.targetEventType),
      new Map(Array.from(others, (type) => [type, sumsOf(type)])),
    );
    // Users without events are not cached: there can be any number of them, and reading no events is fast.
    if (read.isEmpty) this.users.delete(userId);
    else this.users.set(userId, read);
    return read;
  }

  /** Drops all entries. They lack events on items that were unknown when the entries were cached but are known now. */
  clear(): void {
    this.users.clear();
  }

  /** Sums the event values of each known item. Sorting the events takes a third of the time that a map would take. */
  private sums(ids: readonly string[], values: readonly number[], times?: readonly number[]): Sums {
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
    const last = times && new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
    for (let at = 0, to = 0; at < length; to++) {
      const place = placeAt(at);
      let sum = 0;
      for (; at < length && placeAt(at) === place; at++) {
        const event = (keys[at] as number) % mostEvents;
        sum += weightOf(values[event] as number);
        if (times && last) last[to] = Math.max(last[to] as number, times[event] as number);
      }
      items[to] = place;
      sums[to] = sum;
    }
    return last ? [items, sums, last] : [items, sums];
  }
}
