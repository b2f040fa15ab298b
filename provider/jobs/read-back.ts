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
 * How a submitted job is read back. A job is a record of the past, so the row stays whatever is found: nothing is trained or
 * deployed again. The jobs themselves are not read: only their project can be missed, and one read answers for all its jobs.
 */
export const readBack = {
  readWith: routes.getProject,

  async read<State extends JobState>(_id: string, state: State, context: Context): Promise<State> {
    const { client, clock, run, urn } = context;
    const { projectId, jobId } = state;
    const found = await run.projects.get(projectId, clock, async () => {
      const project = await undefinedIfMissing(client.call(routes.getProject, { projectId }));
      return new Map(project ? [[projectId, project]] : []);
    });
    if (!found.has(projectId))
      await log.warn(urn, `project ${projectId} is gone from the service, and job ${jobId} with it`);
    return state;
  },
};
