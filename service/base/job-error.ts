/** Why a job cannot succeed however often it is tried: its data or its parameters, not chance. */
export class JobError extends Error {
  override readonly name = "JobError";
}

/** What a job found out is no longer so: it is run again, and no try is counted. */
export class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}

/** Another process has the job by now, for this one gave no sign of life: what it found out does not count. */
export class LostLeaseError extends Error {
  override readonly name = "LostLeaseError";
}
