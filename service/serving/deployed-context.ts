import { ServiceError } from "../base/error";
import type { Basis } from "../files/basis";
import { type ModelVersion, readRow } from "../files/models";
import type { ServedModel } from "./served-model";

/** Candidates that there are at least where a ranker or diversity chooses among them. */
const leastCandidates = 100;

/** How many items a generator looks for, to answer with so many. */
export function candidatesFor(
  limit: number,
  { generator, ranker }: { generator: ServedModel; ranker: ServedModel | undefined },
): number {
  return generator.recommender.diversity > 0 || ranker ? Math.max(limit, leastCandidates) : limit;
}

/** What a deployment is served with. */
export interface DeployedContext extends Pick<Basis, "store" | "clock" | "metrics" | "files" | "log"> {
  /** The part of all calls that this process may answer. */
  readonly share: () => number;
  /** Called when another deployment has come, or this one was shut down, by another process. */
  readonly onOutdated: () => void;
  /** Refuses a call that does not say which project is to answer, now that several are deployed. */
  readonly onSeveral: () => Promise<void>;
  /** Called when the deployment must be loaded again, because it missed what a forgotten user had. */
  readonly onStale: () => void;
  /** The files that its models were read from. */
  readonly sources: readonly ModelVersion[];
}

/** Reads what a user had when a model was trained, by the user's row in its file. */
export function rowReader(context: DeployedContext, modelId: string): (row: number) => Promise<number[]> {
  const { files, log, sources, onStale } = context;
  const source = sources.find((one) => one.modelId === modelId) ?? { modelId, version: 0 };
  return async (row) => {
    try {
      const items = await readRow(files, source, row);
      // The user was removed from the file before this deployment looked: only the file knows what is popular now.
      if (!items) onStale();
      return items ?? [];
    } catch (error) {
      // The user is forgotten all the same; only what is popular still counts what he had.
      log.error({ err: error, modelId }, "what a forgotten user had cannot be read");
      return [];
    }
  };
}

/** The error of a project that does not serve. */
export function notDeployed(projectId: string): ServiceError {
  return new ServiceError(
    "NOT_DEPLOYED",
    `No model is deployed in project ${projectId}; deploy one with /submit-deployment-job.`,
  );
}
