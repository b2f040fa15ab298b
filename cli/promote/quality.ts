import type { Contents, Quality, Served } from "../release/history";

/** With what the quality of a model is compared. */
export const comparables = ["from", "former"] as const;

/** One of the two things to compare with: the stack that is promoted, or what served before. */
export type Comparable = (typeof comparables)[number];

/** How good a model is beside those that it follows; NDCG@20 on held-out data, where the service reports it. */
export interface QualityComparison {
  readonly model: string;
  readonly from?: number;
  readonly former?: number;
  readonly now?: number;
  /** What it is asked to reach. */
  readonly floor?: number;
  /** All that was measured, where the figures above come from. */
  readonly measured: { readonly from?: Quality; readonly former?: Quality; readonly now?: Quality };
}

/** Beside each model that a deployment serves, the one of the promoted stack and the one that served before. */
export function compareQuality(
  from: Contents,
  before: readonly Served[],
  { ratio, against, now }: { ratio: number; against: readonly Comparable[]; now?: Contents },
): QualityComparison[] {
  const comparisons = new Map<string, QualityComparison>();
  for (const deployment of from.deployments) {
    for (const role of ["generator", "ranker"] as const) {
      const model = deployment[role]?.model;
      if (!model) continue;
      const former = before.find(({ name }) => name === deployment.name)?.[role]?.quality;
      const promoted = from.models.find(({ name }) => name === model)?.quality;
      const trained = now?.models.find(({ name }) => name === model)?.quality;
      const bases = [
        against.includes("from") && promoted?.ndcgAt20,
        against.includes("former") && former?.ndcgAt20,
      ];
      const known = bases.filter((base) => typeof base === "number");
      comparisons.set(model, {
        model,
        ...(promoted?.ndcgAt20 !== undefined && { from: promoted.ndcgAt20 }),
        ...(former?.ndcgAt20 !== undefined && { former: former.ndcgAt20 }),
        ...(trained?.ndcgAt20 !== undefined && { now: trained.ndcgAt20 }),
        measured: {
          ...(promoted && { from: promoted }),
          ...(former && { former }),
          ...(trained && { now: trained }),
        },
        ...(known.length > 0 && ratio > 0 && { floor: Math.min(1, ratio * Math.max(...known)) }),
      });
    }
  }
  return [...comparisons.values()].sort((one, other) => one.model.localeCompare(other.model, "en"));
}

/** What each model is asked to reach, by name. */
export function floorsOf(comparisons: readonly QualityComparison[]): Record<string, number> {
  return Object.fromEntries(
    comparisons.flatMap(({ model, floor }) => (floor === undefined ? [] : [[model, floor]])),
  );
}
