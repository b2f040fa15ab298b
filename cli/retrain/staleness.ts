import ms from "ms";
import { formatShare } from "../terminal/output";
import type { ModelAge } from "./model-age";

/** Limits that make a model stale. Exceeding one is enough. */
export interface StalenessLimits {
  readonly maxAgeMs?: number;
  /** New events as a share of the events that the model was trained with. */
  readonly maxNewShare?: number;
}

/** Whether any limit is set. */
export function hasLimits({ maxAgeMs, maxNewShare }: StalenessLimits): boolean {
  return maxAgeMs !== undefined || maxNewShare !== undefined;
}

/** Returns why a model is stale, or an empty list if it is not. */
export function staleReasons(
  age: ModelAge,
  { maxAgeMs, maxNewShare }: StalenessLimits,
  now: number,
): string[] {
  const ageMs = age.trainedAt === undefined ? undefined : now - Date.parse(age.trainedAt);
  const share = newShare(age);
  const isOld = maxAgeMs !== undefined && ageMs !== undefined && ageMs >= maxAgeMs;
  const hasNewEvents = maxNewShare !== undefined && share !== undefined && share >= maxNewShare;
  return [
    ...(isOld ? [`trained ${ageText(ageMs)} ago`] : []),
    ...(hasNewEvents ? [`${formatShare(share)} more events since its training`] : []),
  ];
}

/** Returns the limits for which a model has no measurement, in words. */
export function unknownMeasures({ trainedAt, newEventCount }: ModelAge, limits: StalenessLimits): string[] {
  return [
    ...(limits.maxAgeMs !== undefined && trainedAt === undefined ? ["when it was trained"] : []),
    ...(limits.maxNewShare !== undefined && newEventCount === undefined ? ["how many events are new"] : []),
  ];
}

/** Returns the new events as a share of the events that the model was trained with, if both are known. */
export function newShare({ eventCount, newEventCount }: ModelAge): number | undefined {
  if (eventCount === undefined || newEventCount === undefined) return undefined;
  return newEventCount / Math.max(1, eventCount - newEventCount);
}

/** Names a model as in the program, or by its id if it is pinned. */
export function modelTitle({ model, modelId }: ModelAge): string {
  return `model ${model ?? modelId}`;
}

/** Formats an age, as in `9 days`. */
export function ageText(ageMs: number): string {
  return ms(Math.max(0, ageMs), { long: true });
}
