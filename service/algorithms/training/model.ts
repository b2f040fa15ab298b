import type { EventRule, EventWeights } from "../event-weights";
import type { Exposure, ExposureRule } from "../exposure";
import type { Interactions } from "../interactions";
import type { NeighbourRule } from "../neighbours";
import type { OrderRule } from "../order/rule";
import type { Transitions } from "../order/transitions";
import type { Ranking } from "../ranking/ranking";
import type { Weighting, WeightScale } from "../weighting";
import type { AttributeModel } from "./cold-start";
import type { Effort } from "./effort";
import type { Quality } from "./evaluation";
import type { HoldOutKind } from "./latest";

/** Parameters of the algorithm G1. Most parameters that are not given are chosen by their quality on held-out pairs. */
export interface G1Parameters {
  /** How much work the training may do. */
  readonly effort?: Effort;
  /** Length of the vectors. */
  readonly dimensions?: number;
  /** Strength of the regularization, which pulls all vectors towards zero. */
  readonly regularization?: number;
  /** Weight of a user-item pair without events, relative to the average weight of a pair with events. */
  readonly alpha?: number;
  /** How much the regularization of a vector grows with the weight of its pairs: 0 not at all, 1 in proportion. */
  readonly regularizationExponent?: number;
  /** Passes over the data. */
  readonly epochs?: number;
  /** How the weight of a pair depends on the sum of its event values. */
  readonly weighting?: Weighting;
  /** How much the weight of a pair falls with the number of the user's items: 0 not at all, 1 in inverse proportion. */
  readonly damping?: number;
  /**
   * Weight of the scores from similar users (neighbours), relative to the scores from vectors. 0 turns neighbours off.
   */
  readonly neighbours?: number;
  /** How much neighbour scores fall with an item's popularity: 0 not at all, 1 in inverse proportion. */
  readonly popularityExponent?: number;
  /**
   * Power to which the similarity of two users is raised. Above 1, a user who shares several items counts more than
   * several users who share one item each.
   */
  readonly similarityExponent?: number;
  /**
   * Weight of the scores from the order of events, relative to the scores from vectors. 0 ignores the order.
   */
  readonly order?: number;
  /** Weights of other event types, relative to the target event. */
  readonly eventWeights?: EventWeights;
  /** Whether to recommend an item to a user who has events on it, but no target event. */
  readonly recommendSeen?: boolean;
  /** How far an item moves down if it is similar to items above it: 0 ignores similarity, 1 considers nothing else. */
  readonly diversity?: number;
  /**
   * How much the score of an item falls with its number of users: at 1, it is divided by the square root of that
   * number.
   */
  readonly popularityPenalty?: number;
}

/** Parameters after the search. */
export type ResolvedParameters = Required<Omit<G1Parameters, Choices>> & Pick<G1Parameters, Choices>;

/** Parameters that are absent if they have no effect. */
type Choices = "similarityExponent" | "order" | "eventWeights" | "recommendSeen" | keyof ExposureRule;

/** Report of a training, mainly its quality on held-out pairs. */
export interface TrainingReport {
  /** Quality with the chosen parameters; null if there were too few events to hold any out. */
  readonly quality: Quality | null;
  /** Quality of recommending the most popular items, on the same pairs. */
  readonly popularity: Quality | null;
  /** Number of held-out pairs and users that the quality was measured on. */
  readonly heldOut: {
    readonly pairs: number;
    readonly users: number;
    /** Absent if nothing was held out. */
    readonly kind?: HoldOutKind;
  };
  /** Number of trials in the parameter search. */
  readonly trials: number;
  /** Number of users that the item vectors were learned from. Absent if these are all users. */
  readonly learnedOn?: { readonly users: number; readonly of: number } | undefined;
  /** NDCG@20 on the latest pairs of users, with the learned ranking and without it; null if it was not measured. */
  readonly ranking?: { readonly ndcg20: number; readonly without: number } | null | undefined;
  /** Statistics of the items that the model shows; null if it shows none. */
  readonly exposure?: Exposure | null | undefined;
}

/**
 * The equations that compute a user's vector from events. They depend on the trainer: those of G1, or those of ALS with
 * implicit preferences in Apache Spark.
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

/** How the order of events adds to the scores, and the table that it was counted in. */
export interface OrderModel {
  readonly rule: OrderRule;
  readonly table: Transitions;
}

/** A trained model. It contains only JSON values and typed arrays. */
export interface TrainedModel {
  /** Name of the algorithm. */
  readonly algorithm: string;
  /** Parameters of the training, as the trainer reports them. Not needed for serving. */
  readonly parameters: object;
  /** Quality that the trainer measured. Not needed for serving. */
  readonly report: object | null;
  /** Number of floats from one vector to the next, at least the number of dimensions. */
  readonly stride: number;
  readonly users: number;
  readonly items: number;
  /** User vectors from events. A user without events has a vector from attributes, or else a zero vector. */
  readonly userVectors: Float32Array;
  /** Item vectors, computed like user vectors. The Gram matrix of the items with events is diagonal. */
  readonly itemVectors: Float32Array;
  /** The pairs that the model was trained on. */
  readonly interactions: Interactions;
  readonly foldIn: FoldInRule;
  /** How events of other types are added to the interactions; absent if only the target event is used. */
  readonly eventRule?: EventRule | undefined;
  /** How neighbours add to the scores; null if they do not. */
  readonly neighbours: NeighbourRule | null;
  /** How the order of a user's events adds to the scores; absent if it does not. */
  readonly order?: OrderModel | undefined;
  /** Diversity and popularity penalty; absent if there are none. */
  readonly exposure?: ExposureRule | undefined;
  /** How the model ranks the candidates of a generator; null if it ranks them by its own scores. */
  readonly ranking: Ranking | null;
  /** Mapping from user attributes to vectors; null if there is none. */
  readonly userAttributes: AttributeModel | null;
  readonly itemAttributes: AttributeModel | null;
}

/** A model that G1 has trained. */
export interface G1Model extends TrainedModel {
  readonly parameters: ResolvedParameters;
  readonly report: TrainingReport;
}

/** Progress of a training. `fraction` is the completed part of the current phase. */
export interface TrainingProgress {
  readonly phase: "weights" | "search" | "train" | "attributes";
  readonly fraction: number;
  /** The best quality so far; null before the first measurement. */
  readonly quality: Quality | null;
  /** NDCG@20 of each trial so far. */
  readonly trials?: readonly number[];
}

/** Thrown if there are no events to learn from. */
export class NotEnoughEventsError extends Error {
  override readonly name = "NotEnoughEventsError";
  constructor() {
    super("not enough events: training needs at least one event of the target type with a value above 0");
  }
}
