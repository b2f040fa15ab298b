/** Number of acknowledged batches after which the limit grows by one. */
const growAfter = 16;

/**
 * Limits the number of concurrent batches. The limit halves when the service is overloaded, then grows again slowly.
 * Two batches with the same id are never sent concurrently, so the later record in the source wins.
 */
export class ConcurrencyLimit {
  #limit: number;
  #active = 0;
  #acknowledged = 0;
  readonly #ids = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(readonly max: number) {
    this.#limit = max;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Waits until a batch with these ids can be sent. */
  async acquire(ids: ReadonlySet<string>): Promise<void> {
    while (this.#active >= this.#limit || (this.#active > 0 && this.#hasAny(ids))) await this.#changed();
    this.#active++;
    for (const id of ids) this.#ids.add(id);
  }

  /** Called when a batch is done. */
  release(ids: ReadonlySet<string>): void {
    this.#active--;
    for (const id of ids) this.#ids.delete(id);
    if (++this.#acknowledged >= growAfter && this.#limit < this.max) {
      this.#limit++;
      this.#acknowledged = 0;
    }
    this.#wake?.();
  }

  /** Halves the limit. Called when the service is overloaded. */
  slowDown(): void {
    // An overloaded service rejects several concurrent batches together, so the limit is halved only once for all of
    // them.
    if (this.#acknowledged === 0 && this.#limit < this.max) return;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    this.#acknowledged = 0;
  }

  /** Waits until all batches are done. */
  async drained(): Promise<void> {
    while (this.#active > 0) await this.#changed();
  }

  #hasAny(ids: ReadonlySet<string>): boolean {
    for (const id of ids) if (this.#ids.has(id)) return true;
    return false;
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
