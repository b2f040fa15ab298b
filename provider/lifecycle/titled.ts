import { isUnreachable } from "../../client/errors";
import { isHealthError } from "../../client/extensions";
import type { Run } from "../run/session";
import { PartialStateError } from "./failure";

/** Resource that an error message is about, and its run. */
export interface ReportedResource {
  readonly title: string;
  readonly run: Pick<Run, "firstAffected">;
}

/**
 * Prefixes errors of `work` with the name of the resource. Errors are copied, because resources may share a failed
 * call.
 */
export async function withTitle<T>(resource: ReportedResource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const problem = sharedProblem(error);
    if (problem) throw reportedOnce(resource, problem, error as Error);
    const message = `${resource.title}: ${(error as Error).message}`;
    throw error instanceof PartialStateError
      ? Object.assign(error, { message })
      : new Error(message, { cause: error });
  }
}

/** Reports a problem of the whole service once per run. Later resources refer to the error of the first resource. */
export async function reportOnce<T>(resource: ReportedResource, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const problem = sharedProblem(error);
    throw problem ? reportedOnce(resource, problem, error as Error) : error;
  }
}

/** Returns the problem of the whole service behind an error, or undefined if the error concerns one resource. */
function sharedProblem(error: unknown): string | undefined {
  if (isUnreachable(error)) return "the service cannot be reached";
  return isHealthError(error) ? "/healthz of the service cannot be read" : undefined;
}

function reportedOnce({ title, run }: ReportedResource, problem: string, error: Error): Error {
  const first = run.firstAffected.get(problem) ?? title;
  run.firstAffected.set(problem, first);
  const message = first === title ? error.message : `${title}: ${problem}; see the error of ${first}`;
  return new Error(message, { cause: error });
}
