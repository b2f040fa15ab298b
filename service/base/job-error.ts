/** Why a job cannot succeed however often it is tried: its data or its parameters, not chance. */
export class JobError extends Error {
  override readonly name = "JobError";
}
