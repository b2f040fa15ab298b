/** A deployment job. */
interface Deployment {
  readonly id: string;
  readonly status: string;
  readonly modelId: string | null;
}

/**
 * Returns the ids of the deployments that were rollbacks: they deployed a model that had already been live before the
 * model that they replaced. `history` starts with the newest deployment.
 */
export function rollbacks(history: readonly Deployment[]): Set<string> {
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
