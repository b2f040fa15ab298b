import type { EventRule, EventWeights } from "../event-weights";
import type { Exposure, ExposureRule } from "../exposure";
import type { Interactions } from "../interactions";
import type { NeighbourRule } from "../neighbours";
import type { Ranking } from "../ranking/ranking";
import type { Weighting, WeightScale } from "../weighting";
import type { AttributeModel } from "./cold-start";
import type { Effort } from "./effort";
import type { Quality } from "./evaluation";
import type { HoldOutKind } from "./latest";

/** Parameters of the algorithm G1; those not given are chosen on a hold-out. */
export interface G1Parameters {
  /** How much work the choice of the others may take. */
  readonly effort?: Effort;
  /** Length of the vectors. */
  readonly dimensions?: number;
  /** Strength of the pull of all vectors towards zero. */
  readonly regularization?: number;
  /** Weight of a pair without events against a pair whose weight is the average. */
  readonly alpha?: number;
  /** How far the regularisation of a vector grows with its weight: 0 not at all, 1 in proportion. */
  readonly regularizationExponent?: number;
  /** Passes over the data. */
  readonly epochs?: number;
  /** How the weight of a pair follows from the sum of its event values. */
  readonly weighting?: Weighting;
  /** How far the weight of a pair falls with the number of the user's items: 0 not at all, 1 in proportion. */
  readonly damping?: number;
  /** How much those who chose the same items count against the vectors; 0 leaves them out. */
  readonly neighbours?: number;
  /** How far neighbours hold popular items back: 0 not at all, 1 in proportion. */
  readonly popularityExponent?: number;
  /** What events of other types weigh against the target event. */
  readonly eventWeights?: EventWeights;
  /** Whether items that a user has other events for, and no target event, are recommended to him. */
  readonly recommendSeen?: boolean;
  /** How far items stand back that are like those above them. */
  readonly diversity?: number;
  /** How far the score of an item falls with the number of its users: at 1 it is divided by its square root. */
  readonly popularityPenalty?: number;
}

/** Parameters after the choice. */
export type ResolvedParameters = Required<Omit<G1Parameters, Choices>> & Pick<G1Parameters, Choices>;

/** What is there only where it counts. */
type Choices = "eventWeights" | "recommendSeen" | keyof ExposureRule;

/** What was measured on the hold-out that the parameters were chosen on. */
export interface TrainingReport {
  /** Quality of the chosen parameters on the hold-out, null when there were too few events to hold any out. */
  readonly quality: Quality | null;
  /** Quality of the order of popularity on the same hold-out. */
  readonly popularity: Quality | null;
  /** How much the hold-out asked for; a pair that several hold-outs asked for counts once. */
  readonly heldOut: {
    readonly pairs: number;
    readonly users: number;
    /** Absent where nothing was held out. */
    readonly kind?: HoldOutKind;
  };
  /** How many sets of parameters were tried. */
  readonly trials: number;
  /** Users whose pairs the vectors of the items were learned from, where these are not all of them. */
  readonly learnedOn?: { readonly users: number; readonly of: number } | undefined;
  /** What the candidates reach as they are ranked on the latest pairs, and without that; null where it was not measured. */
  readonly ranking?: { readonly ndcg20: number; readonly without: number } | null | undefined;
  /** What the model shows of the catalogue; null where it has nothing to show. */
  readonly exposure?: Exposure | null | undefined;
}

/**
 * Which equations give a user's vector from his events, since trainers differ in that: those of G1, or those of ALS
 * with implicit preferences in Apache Spark.
 */
export type FoldInRule =
  | {
      readonly rule: "ials";
      readonly alpha: number;
      readonly regularization: number;
      readonly regularizationExponent: number;
      readonly weightScale: WeightScale;
    }
  | { readonly rule: "spark-als-implicit"; readonly alpha: number; readonly regularization: number };

/** A trained model: JSON values and typed arrays only. */
export interface TrainedModel {
  /** What trained it. */
  readonly algorithm: string;
  /** What it was trained with, and what was measured; said by the trainer, and not needed to serve. */
  readonly parameters: object;
  readonly report: object | null;
  /** Floats from one vector to the next, at least `parameters.dimensions`. */
  readonly stride: number;
  readonly users: number;
  readonly items: number;
  /**
   * From events where there are any, else from attributes, else zero; the gram matrix of the item vectors that come
   * from events is diagonal.
   */
  readonly userVectors: Float32Array;
  readonly itemVectors: Float32Array;
  /** What the model was trained on. */
  readonly interactions: Interactions;
  readonly foldIn: FoldInRule;
  /** How events of other types count in the interactions; absent where the target event alone does. */
  readonly eventRule?: EventRule | undefined;
  /** What a user's neighbours add to the products of the vectors; null where that is nothing. */
  readonly neighbours: NeighbourRule | null;
  /** What counts beside how well an item fits; absent where nothing does. */
  readonly exposure?: ExposureRule | undefined;
  /** How it ranks the candidates of a generator; null where that is by its own scores. */
  readonly ranking: Ranking | null;
  /** Vectors from attributes for users and items without events; null when attributes were not given. */
  readonly userAttributes: AttributeModel | null;
  readonly itemAttributes: AttributeModel | null;
}

/** What G1 has trained. */
export interface G1Model extends TrainedModel {
  readonly parameters: ResolvedParameters;
  readonly report: TrainingReport;
}

/** Where training stands: the fraction is that of the phase. */
export interface TrainingProgress {
  readonly phase: "weights" | "search" | "train" | "attributes";
  readonly fraction: number;
  /** The best that was found until now; null before anything was measured. */
  readonly quality: Quality | null;
  /** NDCG@20 of each trial of the search until now. */
  readonly trials?: readonly number[];
}

/** Thrown when there is nothing to learn from. */
export class NotEnoughEventsError extends Error {
  override readonly name = "NotEnoughEventsError";
  constructor() {
    super("not enough events: training needs at least one event of the target type with a value above 0");
  }
}
