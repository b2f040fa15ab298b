/**
 * Tracks how long this process has been in contact with the database, by the database's clock. After an outage, even
 * the leases of healthy processes have expired. So a process takes over jobs only after it has been in contact for the
 * duration of a lease.
 */
export class DatabaseContact {
  private since = Number.POSITIVE_INFINITY;
  private last = Number.NEGATIVE_INFINITY;

  constructor(private readonly leaseMs: number) {}

  /** Records that the database responded at this time. */
  confirm(now: number): void {
    if (!this.isUnbroken(now)) this.since = now;
    this.last = now;
  }

  /** Whether the database has responded without a gap for the duration of a lease. */
  isSteadyAt(now: number): boolean {
    return this.isUnbroken(now) && this.last - this.since >= this.leaseMs;
  }

  /**
   * Whether the last response is recent enough. Leases are renewed five times per lease duration. If two renewals are
   * missed, a healthy process still has time to renew.
   */
  private isUnbroken(now: number): boolean {
    return now - this.last <= (2 * this.leaseMs) / 5;
  }
}
