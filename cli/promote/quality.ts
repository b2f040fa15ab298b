import type { Contents, Quality, Served } from "../release/history";

/** With what the quality of a model is compared. */
export const baselines = ["from", "former"] as const;

/** The share of the quality compared with that a model must reach, unless another one is given. */
export const defaultRatio = 0.9;

/** One of the two things to compare with: the stack that is promoted, or what served before. */
export type Baseline = (typeof baselines)[number];

/** How good the model of one deployment is beside those that it follows; NDCG@20 on held-out data. */
export interface QualityComparison {
  readonly deployment: string;
  readonly model: string;
  readonly from?: number;
  readonly former?: number;
  readonly now?: number;
  /** What it is asked to reach. */
  readonly floor?: number;
  /** All that was measured, where the figures above come from. */
  readonly measured: { readonly from?: Quality; readonly former?: Quality; readonly now?: Quality };
}

/** Compares each model that a deployment serves with the one of the promoted stack and the one that served before. */
export function compareQuality(
  from: Contents,
  before: readonly Served[],
  { ratio, against, now }: { ratio: number; against: readonly Baseline[]; now?: Contents },
): QualityComparison[] {
  const comparisons = from.deployments.flatMap((deployment) =>
    (["generator", "ranker"] as const).flatMap((role): QualityComparison[] => {
      const model = deployment[role]?.model;
      if (!model) return [];
      const former = before.find(({ name }) => name === deployment.name)?.[role]?.quality;
      const promoted = from.models.find(({ name }) => name === model)?.quality;
      const trained = now?.models.find(({ name }) => name === model)?.quality;
      const bases = [
        against.includes("from") && promoted?.ndcgAt20,
        against.includes("former") && former?.ndcgAt20,
      ];
      const known = bases.filter((base) => typeof base === "number");
      const comparison = {
        deployment: deployment.name,
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
      };
      return [comparison];
    }),
  );
  const key = ({ model, deployment }: QualityComparison) => `${model}\0${deployment}`;
  return comparisons.sort((one, other) => key(one).localeCompare(key(other), "en"));
}

/** What each model must reach, by name: the highest floor of all deployments that serve it. */
export function floorsOf(comparisons: readonly QualityComparison[]): Record<string, number> {
  const floors: Record<string, number> = {};
  for (const { model, floor } of comparisons) {
    if (floor !== undefined) floors[model] = Math.max(floor, floors[model] ?? 0);
  }
  return floors;
}
