import { isUnreachable } from "../../client/unreachable";
import type { Run } from "../run/session";
import { PartialStateError } from "./failure";

/** The resource that a call works for, and the run that it is part of. */
export interface ReportedResource {
  readonly title: string;
  readonly run: Pick<Run, "firstUnreachable">;
}

/** Names the resource in an error. The error is copied, because several resources may share one failed call. */
export async function withTitle<T>(work: ReportedResource, does: () => Promise<T>): Promise<T> {
  try {
    return await does();
  } catch (error) {
    if (isUnreachable(error)) throw unreachable(work, error as Error);
    const message = `${work.title}: ${(error as Error).message}`;
    throw error instanceof PartialStateError
      ? Object.assign(error, { message })
      : new Error(message, { cause: error });
  }
}

/** Reports a service that cannot be reached once in a run: the errors of further resources refer to the first one. */
export async function reportOnce<T>(work: ReportedResource, does: () => Promise<T>): Promise<T> {
  try {
    return await does();
  } catch (error) {
    throw isUnreachable(error) ? unreachable(work, error as Error) : error;
  }
}

function unreachable({ title, run }: ReportedResource, error: Error): Error {
  run.firstUnreachable ??= title;
  if (run.firstUnreachable === title) return new Error(error.message, { cause: error });
  return new Error(`${title}: stopped as well; see the error of ${run.firstUnreachable}`, { cause: error });
}
