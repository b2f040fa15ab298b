/**
 * How long this process has been in contact with the database, by the database's clock. After an outage every lease has
 * run out, also those of healthy processes, so a process may only judge others once it has been back for a whole lease.
 */
export class Contact {
  private since = Number.POSITIVE_INFINITY;
  private last = Number.NEGATIVE_INFINITY;

  constructor(private readonly leaseMs: number) {}

  /** Records that the database answered at this time. */
  made(now: number): void {
    if (!this.isUnbroken(now)) this.since = now;
    this.last = now;
  }

  /** Whether the database has answered without a gap for one lease. */
  isSteadyAt(now: number): boolean {
    return this.isUnbroken(now) && this.last - this.since >= this.leaseMs;
  }

  /** Leases are renewed every fifth of their time. An outage of two fifths leaves a healthy process time to renew. */
  private isUnbroken(now: number): boolean {
    return now - this.last <= (2 * this.leaseMs) / 5;
  }
}
