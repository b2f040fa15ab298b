import type { Logger } from "pino";
import { ServiceError } from "../base/error";
import type { Metrics } from "../base/metrics";
import type { StoredRow } from "../files/format/pairs";
import { type ModelVersion, readRow } from "../files/models";
import type { ServiceContext } from "../files/service-context";
import type { Store } from "../store/database";

const noRow: StoredRow = { items: [], steps: [] };

/** Everything that a deployment uses apart from its models. */
export interface DeployedContext extends Pick<ServiceContext, "clock" | "files"> {
  readonly store: Pick<Store, "db">;
  readonly metrics: { readonly vectors: Pick<Metrics["vectors"], "inc"> };
  readonly log: Pick<Logger, "error">;
  /** Returns the share of the rate limit that this process may use. */
  readonly share: () => number;
  /** Called if the deployment must be loaded again, because a forgotten user is no longer in the model's file. */
  readonly onStale: () => void;
  /** The files that the models were read from. */
  readonly sources: readonly ModelVersion[];
}

/**
 * Returns a function that reads which items a user had at the time of training. It takes the user's row in the model's
 * file.
 */
export function rowReader(context: DeployedContext, modelId: string): (row: number) => Promise<StoredRow> {
  const { files, log, sources, onStale } = context;
  const source = sources.find((one) => one.modelId === modelId) ?? { modelId, version: 0 };
  return async (row) => {
    try {
      const found = await readRow(files, source, row);
      // The user was already removed from the file. Only loading the file again gives the popularity without this user.
      if (!found) onStale();
      return found ?? noRow;
    } catch (error) {
      // The user is forgotten in spite of this error. Only the popularity of items still includes the user's events.
      log.error(
        { err: error, modelId },
        "cannot read the items of a forgotten user, so the user's events still count towards item popularity",
      );
      return noRow;
    }
  };
}

/** Returns the error for a project without a deployment. */
export function notDeployed(projectId: string): ServiceError {
  return new ServiceError(
    "NOT_DEPLOYED",
    `No model is deployed in project ${projectId}; deploy one with /submit-deployment-job.`,
  );
}
