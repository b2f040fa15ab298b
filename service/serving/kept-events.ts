import type { UserItem } from "../algorithms";
import type { Places } from "../base/places";
import { weightOf } from "../store/snapshot";

/** Pairs of a user and an item that are kept, 8 bytes each. */
const mostPairs = 2_000_000;

/** What an entry takes beside its pairs, counted in pairs. */
const entrySize = 50;

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
    const all = Array.from(this.items, (item, at) => ({ item, weight: this.sums[at] as number }));
    return all.filter(({ weight }) => weight > 0);
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
    const sums = new Map<number, number>();
    for (let at = 0; at < ids.length; at++) {
      const place = this.places.find(ids[at] as string);
      if (place !== undefined) sums.set(place, (sums.get(place) ?? 0) + weightOf(values[at] as number));
    }
    const read = new Read(stamp, Uint32Array.from(sums.keys()), Float32Array.from(sums.values()));
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

  private drop(userId: string): void {
    const kept = this.kept.get(userId);
    if (!kept) return;
    this.kept.delete(userId);
    this.size -= kept.items.length + entrySize;
  }
}
