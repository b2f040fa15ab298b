import { readSettings } from "../../client/settings";
import type { Contents, Quality, Release, Served } from "../release/history";
import type { OpenStack } from "../stack/open";
import { defined } from "../terminal/output";

/** Baselines for a model's quality: the promoted stack's model, and the previous model of the target stack. */
export const baselines = ["from", "former"] as const;

/** Default share of the best baseline's quality that a model must reach. */
export const defaultRatio = 0.9;

/** A baseline for a model's quality. */
export type Baseline = (typeof baselines)[number];

/** NDCG@20 of a deployment's model and of its baselines, on held-out data. */
export interface QualityComparison {
  readonly deployment: string;
  readonly model: string;
  readonly from?: number;
  readonly former?: number;
  readonly now?: number;
  /** Required NDCG@20. */
  readonly floor?: number;
  /** All metrics of the compared models. */
  readonly measured: { readonly from?: Quality; readonly former?: Quality; readonly now?: Quality };
}

/** Compares each deployed model with the promoted stack's model and with the previous model. */
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
      const measured = { from: ndcgOf(promoted), former: ndcgOf(former) };
      const known = against.map((baseline) => measured[baseline]).filter((ndcg) => ndcg !== undefined);
      return [
        {
          deployment: deployment.name,
          model,
          ...defined({ from: ndcgOf(promoted), former: ndcgOf(former), now: ndcgOf(trained) }),
          measured: defined({ from: promoted, former, now: trained }),
          ...(known.length > 0 && ratio > 0 && { floor: Math.min(1, ratio * Math.max(...known)) }),
        },
      ];
    }),
  );
  const key = ({ model, deployment }: QualityComparison) => `${model}\0${deployment}`;
  return comparisons.sort((one, other) => key(one).localeCompare(key(other), "en"));
}

const ndcgOf = (quality: Quality | undefined) => quality?.ndcgAt20 ?? undefined;

/** Returns the required NDCG@20 by model name: the highest floor of all deployments that use the model. */
export function floorsOf(comparisons: readonly QualityComparison[]): Record<string, number> {
  const floors: Record<string, number> = {};
  for (const { model, floor } of comparisons) {
    if (floor !== undefined) floors[model] = Math.max(floor, floors[model] ?? 0);
  }
  return floors;
}

/**
 * Returns the required NDCG@20 of each model: the highest of the floor from the comparison, the policy's and the stack's
 * `minQuality`.
 */
export async function qualityFloors(
  open: OpenStack,
  comparisons: readonly QualityComparison[],
  required: Readonly<Record<string, number>>,
): Promise<Record<string, number>> {
  const own = readSettings(await open.config(), open.environment).minQuality;
  const compared = floorsOf(comparisons);
  const floors = Object.keys({ ...compared, ...required }).map((model) => {
    return [model, Math.max(compared[model] ?? 0, required[model] ?? 0, own[model] ?? own["*"] ?? 0)];
  });
  return { ...own, ...Object.fromEntries(floors) };
}

/** Adds the quality of models that the state no longer contains, as recorded in the history. */
export function withRecordedQuality(served: readonly Served[], releases: readonly Release[]): Served[] {
  const known = new Map<string, Quality>();
  for (const { contents } of releases) {
    for (const { modelId, quality } of contents?.models ?? []) if (quality) known.set(modelId, quality);
  }
  const withKnown = (model: Served["generator"]): Served["generator"] => {
    const quality = model.quality ?? known.get(model.modelId);
    return quality ? { ...model, quality } : model;
  };
  return served.map(({ generator, ranker, ...rest }) => ({
    ...rest,
    generator: withKnown(generator),
    ...(ranker && { ranker: withKnown(ranker) }),
  }));
}
