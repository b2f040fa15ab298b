/** Why a job cannot succeed however often it is tried: its data or its parameters, not chance. */
export class JobError extends Error {
  override readonly name = "JobError";
}

/** What a job found out is no longer so: it is run again, and no try is counted. */
export class OutdatedError extends Error {
  override readonly name = "OutdatedError";
}
