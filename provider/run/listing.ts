import type { Clock } from "../../client/clock";

/** Time for which the reads of a refresh share one list. */
const cachedMs = 60_000;

/** Cache of lists, so a refresh of many resources sends one call. */
export class Listing<T> {
  readonly #lists = new Map<string, { list: Promise<Map<string, T>>; at: number }>();

  /** Returns the list stored under a key. Fetches it if there is none or if it is older than a minute. */
  get(key: string, clock: Clock, fetch: () => Promise<Map<string, T>>): Promise<Map<string, T>> {
    const cached = this.#lists.get(key);
    if (cached && clock.now() - cached.at < cachedMs) return cached.list;
    const entry = { list: fetch(), at: clock.now() };
    entry.list.catch(() => this.#lists.delete(key));
    this.#lists.set(key, entry);
    return entry.list;
  }

  /** Clears the cache after a change. */
  forget(): void {
    this.#lists.clear();
  }
}
