import { type Quality, WORTHWHILE } from "./evaluation";
import type { G1Parameters } from "./model";
import type { NeighbourPoint, Point } from "./point";
import type { TrialBench } from "./trial";

/** Epochs of a trial. */
export const TRIAL_EPOCHS = 5;

/** Typical number of trials, to report progress. */
const EXPECTED_TRIALS = 26;

/** Returns the next point in a direction; null if there is none. */
export type Step = (from: Point, direction: 1 | -1) => Point | null;

/** The point that a climb has reached. `ndcg` returns an estimate, or measures the point. */
export interface Peak {
  readonly point: Point;
  ndcg(): number;
}

/** Receives the progress of the search, the best quality so far, and the NDCG@20 of all trials so far. */
export type OnTrial = (fraction: number, quality: Quality, trials: readonly number[]) => void;

/** Returns a step that multiplies or divides the strength by a factor. The strength never exceeds 1. */
export function strengthBy(factor: number): Step {
  return (from, direction) => {
    const strength = from.strength * factor ** direction;
    return strength > 1 ? null : { ...from, strength };
  };
}

const FINE = 1.3;
const fineStep = strengthBy(FINE);

/** Compares points by trials, and reports each trial. */
export class SearchTrials {
  private quality: Quality = { recall20: 0, ndcg20: 0 };

  constructor(
    readonly bench: TrialBench,
    private readonly given: G1Parameters,
    private readonly onTrial: OnTrial,
  ) {}

  /** Returns the NDCG@20 of a point. */
  ndcg(point: Point): number {
    const [found] = this.bench.trace(point, [TRIAL_EPOCHS]);
    this.reportTrial(found);
    return found.ndcg20;
  }

  /** Returns the best of several neighbour settings, or the first one that is nearly as good. */
  bestNeighbours(from: Point, settings: readonly NeighbourPoint[]): { best: NeighbourPoint; ndcg: number } {
    const found = this.bench.compareNeighbours(from, TRIAL_EPOCHS, settings);
    const at = firstNearlyBest(found);
    this.reportTrial(found[at]);
    return { best: settings[at], ndcg: found[at].ndcg20 };
  }

  /** Takes steps in the direction that improves the NDCG, until it no longer improves. */
  walk(from: Point, step: Step): Point {
    let reached = from;
    for (const direction of [1, -1] as const) {
      for (let next = step(reached, direction); next; next = step(reached, direction)) {
        if (this.ndcg(next) <= this.ndcg(reached)) break;
        reached = next;
      }
      if (reached !== from) break;
    }
    return reached;
  }

  /** Walks to the best strength, then to the peak of the parabola through the best step and its two neighbours. */
  climb(from: Point): Peak {
    if (this.given.regularization !== undefined) return { point: from, ndcg: () => this.ndcg(from) };
    const at = this.walk(from, fineStep);
    const reached = { point: at, ndcg: () => this.ndcg(at) };
    const [weaker, stronger] = [fineStep(at, -1), fineStep(at, 1)];
    if (!weaker || !stronger) return reached;
    const [below, here, above] = [this.ndcg(weaker), this.ndcg(at), this.ndcg(stronger)];
    const [slope, curvature] = [(above - below) / 2, 2 * here - below - above];
    if (!(curvature > 0)) return reached;
    const strength = at.strength * FINE ** (slope / curvature);
    return { point: { ...at, strength }, ndcg: () => here + slope ** 2 / (2 * curvature) };
  }

  private reportTrial(found: Quality): void {
    if (found.ndcg20 > this.quality.ndcg20) this.quality = found;
    const { trials } = this.bench;
    this.onTrial(Math.min(0.99, trials.length / EXPECTED_TRIALS), this.quality, trials);
  }
}

/** Returns the index of the first quality that is nearly as good as the best one. */
export function firstNearlyBest(qualities: readonly Quality[]): number {
  const best = Math.max(...qualities.map(({ ndcg20 }) => ndcg20));
  return qualities.findIndex(({ ndcg20 }) => ndcg20 * WORTHWHILE >= best);
}
