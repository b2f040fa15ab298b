/**
 * Tracks how long this process has been in contact with the database, by the database's clock. After an outage all leases
 * have expired, also those of healthy processes. So a process takes over jobs only after a full lease of contact.
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

  /** Whether the database has responded without a gap for one lease. */
  isSteadyAt(now: number): boolean {
    return this.isUnbroken(now) && this.last - this.since >= this.leaseMs;
  }

  /** Leases are renewed five times per lease. After a gap of up to two renewals, a healthy process still has time to renew. */
  private isUnbroken(now: number): boolean {
    return now - this.last <= (2 * this.leaseMs) / 5;
  }
}
