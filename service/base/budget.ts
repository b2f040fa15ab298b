interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

/** Limits the total memory of concurrent calls. Callers reserve bytes and release them later. */
export class Budget {
  private reserved = 0;
  private readonly waiting: Waiting[] = [];

  constructor(private readonly mostBytes: number) {}

  /** Reserves bytes without waiting. @returns false if they are not available */
  tryReserve(bytes: number): boolean {
    if (this.waiting.length > 0 || !this.fits(bytes)) return false;
    this.reserved += bytes;
    return true;
  }

  /** Waits in line until the bytes are available, and reserves them. */
  reserve(bytes: number): Promise<void> {
    if (this.tryReserve(bytes)) return Promise.resolve();
    return new Promise((start) => this.waiting.push({ bytes, start }));
  }

  /** Releases bytes that were reserved. */
  release(bytes: number): void {
    this.reserved -= bytes;
    for (let next = this.waiting[0]; next && this.fits(next.bytes); next = this.waiting[0]) {
      this.waiting.shift();
      this.reserved += next.bytes;
      next.start();
    }
  }

  /**
   * Whether a reservation fits. If nothing else is reserved, any size fits, because a reservation above the limit would
   * otherwise wait forever.
   */
  private fits(bytes: number): boolean {
    return this.reserved === 0 || this.reserved + bytes <= this.mostBytes;
  }
}
