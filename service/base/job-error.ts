/** Failure of a job that a retry cannot fix, such as wrong data or parameters. */
export class JobError extends Error {
  override readonly name = "JobError";
}

/**
 * The data changed while the job ran, so its result is outdated. The job runs again, which does not count as a retry.
 */
export class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}

/** This process missed its heartbeats and another process took over the job, so this process discards its result. */
export class LostLeaseError extends Error {
  override readonly name = "LostLeaseError";
}
