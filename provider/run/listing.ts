import type { Clock } from "../../client/clock";

/** How long one list answers for the reads of a refresh. */
const keptMs = 60_000;

/** Lists that many reads share, so that a refresh of many resources makes one call. */
export class Listing<T> {
  readonly #kept = new Map<string, { list: Promise<Map<string, T>>; at: number }>();

  /** The list under a key, fetched when there is none of the last minute. */
  get(key: string, clock: Clock, fetch: () => Promise<Map<string, T>>): Promise<Map<string, T>> {
    const kept = this.#kept.get(key);
    if (kept && clock.now() - kept.at < keptMs) return kept.list;
    const entry = { list: fetch(), at: clock.now() };
    entry.list.catch(() => this.#kept.delete(key));
    this.#kept.set(key, entry);
    return entry.list;
  }

  /** Forgets what a change has made untrue. */
  forget(): void {
    this.#kept.clear();
  }
}
