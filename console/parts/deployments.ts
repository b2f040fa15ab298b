import type { JobRow } from "../../service/console/responses";

/**
 * Returns the ids of the deployments that were rollbacks: they deployed a model that had been live before the previous one.
 * @param history - deployment jobs, newest first
 */
export function rollbacks(history: readonly Pick<JobRow, "id" | "status" | "modelId">[]): Set<string> {
  const served = history.filter(({ status, modelId }) => status === "SUCCEED" && modelId !== null);
  return new Set(
    served
      .filter(({ modelId }, at) => {
        const [before, ...earlier] = served.slice(at + 1);
        return before && before.modelId !== modelId && earlier.some((one) => one.modelId === modelId);
      })
      .map(({ id }) => id),
  );
}
