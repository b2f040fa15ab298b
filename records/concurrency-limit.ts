/** How many acknowledged batches it takes to dare one more at once. */
const steadyAfter = 16;

/**
 * Lets a number of batches through at once: fewer after the service has asked for patience, then slowly more again.
 * Two batches that hold the same id never go at once, so that the later record wins as it does in the source.
 */
export class Gate {
  #limit: number;
  #underWay = 0;
  #steady = 0;
  readonly #ids = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(readonly most: number) {
    this.#limit = most;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Waits until a batch with these ids may go. */
  async enter(ids: ReadonlySet<string>): Promise<void> {
    while (this.#underWay >= this.#limit || (this.#underWay > 0 && this.#holdsAny(ids)))
      await this.#changed();
    this.#underWay++;
    for (const id of ids) this.#ids.add(id);
  }

  /** A batch is through. */
  leave(ids: ReadonlySet<string>): void {
    this.#underWay--;
    for (const id of ids) this.#ids.delete(id);
    if (++this.#steady >= steadyAfter && this.#limit < this.most) {
      this.#limit++;
      this.#steady = 0;
    }
    this.#wake?.();
  }

  /** The service asked for patience. */
  slowDown(): void {
    // Those under way at once are refused at once: they count as one.
    if (this.#steady === 0 && this.#limit < this.most) return;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    this.#steady = 0;
  }

  /** Waits until all are through. */
  async drained(): Promise<void> {
    while (this.#underWay > 0) await this.#changed();
  }

  #holdsAny(ids: ReadonlySet<string>): boolean {
    for (const id of ids) if (this.#ids.has(id)) return true;
    return false;
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
