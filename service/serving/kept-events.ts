import type { UserItem } from "../algorithms";
import type { Places } from "../base/places";
import { weightOf } from "../store/snapshot";

/** Pairs of a user and an item that are kept, 8 bytes each. */
const mostPairs = 1_500_000;

/** What an entry takes beside its pairs, counted in pairs. */
const entrySize = 50;

/** More than one user has; a place times this is a number still. */
const mostEvents = 2 ** 26;

/** The target events of one user, in the places of the generator. */
export interface UserEvents {
  readonly items: Iterable<number>;
  /** With what a training would see: the sums of their values, where these are above 0. */
  weights(): UserItem[];
  /** The same as long as the events are. */
  readonly stamp?: string;
}

class Read implements UserEvents {
  constructor(
    readonly stamp: string,
    readonly items: Uint32Array,
    private readonly sums: Float32Array,
  ) {}

  weights(): UserItem[] {
    const above: UserItem[] = [];
    this.sums.forEach((weight, at) => {
      if (weight > 0) above.push({ item: this.items[at] as number, weight });
    });
    return above;
  }
}

/** The events of users who were answered lately, each used only where the store says that they are still the same. */
export class KeptEvents {
  private readonly kept = new Map<string, Read>();
  private size = 0;

  constructor(
    private readonly places: Places,
    private readonly most = mostPairs,
  ) {}

  /** What is kept of a user's events. */
  find(userId: string): UserEvents | undefined {
    return this.kept.get(userId);
  }

  /** Keeps a user's events: a list of their items and one of their values, as JSON. */
  keep(userId: string, stamp: string, events: string): UserEvents {
    const [ids, values] = JSON.parse(events) as [string[], number[]];
    const read = new Read(stamp, ...this.summed(ids, values));
    this.drop(userId);
    this.kept.set(userId, read);
    this.size += read.items.length + entrySize;
    for (const oldest of this.kept.keys()) {
      if (this.size <= this.most) break;
      this.drop(oldest);
    }
    return read;
  }

  /** Lets go of everything, for items that had no place may have one now. */
  clear(): void {
    this.kept.clear();
    this.size = 0;
  }

  /** The places of the items that have one, ascending, with the sums of their events' values: by sorting, for a map takes thrice as long. */
  private summed(ids: readonly string[], values: readonly number[]): [Uint32Array, Float32Array] {
    const keys = new Float64Array(ids.length);
    let length = 0;
    ids.forEach((id, at) => {
      const place = this.places.find(id);
      if (place !== undefined) keys[length++] = place * mostEvents + at;
    });
    const [items, sums] = [new Uint32Array(length), new Float64Array(length)];
    let last = -1;
    for (const key of keys.subarray(0, length).sort()) {
      const place = Math.floor(key / mostEvents);
      if (last < 0 || items[last] !== place) items[++last] = place;
      sums[last] = (sums[last] as number) + weightOf(values[key % mostEvents] as number);
    }
    return [items.slice(0, last + 1), Float32Array.from(sums.subarray(0, last + 1))];
  }

  private drop(userId: string): void {
    const kept = this.kept.get(userId);
    if (!kept) return;
    this.kept.delete(userId);
    this.size -= kept.items.length + entrySize;
  }
}
