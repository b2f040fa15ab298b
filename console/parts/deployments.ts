import type { JobRow } from "../../service/console/answers";

/** Whether each deployment, newest first, rolled back: it put a model into service again after another one had served. */
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
