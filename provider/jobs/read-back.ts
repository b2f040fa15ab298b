import { undefinedIfMissing } from "../../client/error-meaning";
import { routes } from "../../contract";
import type { Context } from "../run/context";
import { log } from "../run/engine";

/** A job in the state. */
interface JobState {
  readonly projectId: string;
  readonly jobId: string;
}

/**
 * How a submitted job is read back. Only our own service keeps every job; another may forget it. A job is a record of the
 * past, so the row stays even if the service has lost the job: nothing is trained or deployed again for that.
 */
export const readBack = {
  readWith: routes.getProject,

  async read<State extends JobState>(_id: string, state: State, { client, urn }: Context): Promise<State> {
    const { projectId, jobId } = state;
    if (!(await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }))))
      await log.warn(urn, `job ${jobId} of project ${projectId} is gone from the service`);
    return state;
  },
};
