import { ServiceError } from "../base/error";
import { type ModelVersion, readRow } from "../files/models";
import type { ServiceContext } from "../files/service-context";

/** Everything that a deployment uses apart from its models. */
export interface DeployedContext
  extends Pick<ServiceContext, "store" | "clock" | "metrics" | "files" | "log"> {
  /** Returns the share of the rate limit that this process may use. */
  readonly share: () => number;
  /** Called if the deployment must be loaded again, because a forgotten user is no longer in the model's file. */
  readonly onStale: () => void;
  /** The files that the models were read from. */
  readonly sources: readonly ModelVersion[];
}

/** Returns a function that reads the items of a user at the time of training, by the user's row in the model's file. */
export function rowReader(context: DeployedContext, modelId: string): (row: number) => Promise<number[]> {
  const { files, log, sources, onStale } = context;
  const source = sources.find((one) => one.modelId === modelId) ?? { modelId, version: 0 };
  return async (row) => {
    try {
      const items = await readRow(files, source, row);
      // The user is already gone from the file, and only the file has the popularity without them.
      if (!items) onStale();
      return items ?? [];
    } catch (error) {
      // The user is forgotten anyway. Only the popularity of items still counts their events.
      log.error(
        { err: error, modelId },
        "cannot read the items of a forgotten user, so the user's events still count towards item popularity",
      );
      return [];
    }
  };
}

/** The error for a project without a deployment. */
export function notDeployed(projectId: string): ServiceError {
  return new ServiceError(
    "NOT_DEPLOYED",
    `No model is deployed in project ${projectId}; deploy one with /submit-deployment-job.`,
  );
}
