import { isUnreachable } from "../../client/unreachable";
import type { Run } from "../run/session";
import { PartialStateError } from "./failure";

/** Resource in an error message, and its run. */
export interface ReportedResource {
  readonly title: string;
  readonly run: Pick<Run, "firstUnreachable">;
}

/** Prefixes errors of `work` with the resource. Errors are copied, because resources may share a failed call. */
export async function withTitle<T>(resource: ReportedResource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUnreachable(error)) throw unreachable(resource, error as Error);
    const message = `${resource.title}: ${(error as Error).message}`;
    throw error instanceof PartialStateError
      ? Object.assign(error, { message })
      : new Error(message, { cause: error });
  }
}

/** Reports an unreachable service once per run. Errors of later resources refer to the first one. */
export async function reportOnce<T>(resource: ReportedResource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isUnreachable(error) ? unreachable(resource, error as Error) : error;
  }
}

function unreachable({ title, run }: ReportedResource, error: Error): Error {
  run.firstUnreachable ??= title;
  if (run.firstUnreachable === title) return new Error(error.message, { cause: error });
  return new Error(`${title}: the service cannot be reached; see the error of ${run.firstUnreachable}`, {
    cause: error,
  });
}
