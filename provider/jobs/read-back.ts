import { undefinedIfMissing } from "../../client/error-meaning";
import { routes } from "../../contract";
import type { Context } from "../run/context";
import { log } from "../run/engine";

/** State of a submitted job. */
interface JobState {
  readonly projectId: string;
  readonly jobId: string;
}

/**
 * Refreshes a submitted job. A job is a record of the past, so its state entry always stays and nothing is trained or
 * deployed again. Only its project is read, once for all of its jobs.
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
      await log.warn(urn, `project ${projectId} and its job ${jobId} no longer exist in the service`);
    return state;
  },
};
