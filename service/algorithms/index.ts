// algorithms/ is pure mathematics, without HTTP or SQL: training/ learns a model, inference/ recommends with it.

export {
  type AttributeRecords,
  type AttributeSchema,
  type Attributes,
  attributeOf,
  attributeValues,
  categoriesOf,
  type FeatureSpace,
  type Features,
  featureReader,
  inferSchema,
} from "./attributes";
export { type EventRule, pairWeight, type TypedPairs } from "./event-weights";
export type { ExposureRule } from "./exposure";
export { clusterUsers } from "./inference/clustering";
export { diagonalized } from "./inference/diagonalized";
export { measureExposure } from "./inference/exposed";
export type { UserItem } from "./inference/fold-in";
export { type HeldOutReport, type HeldOutUsers, measureHeldOut, withHeldOut } from "./inference/held-out";
export { placedVectors } from "./inference/placed-vectors";
export type { Preferences } from "./inference/preferences";
export { Recommender } from "./inference/recommender";
export { contains, factorOf, type Selection, type Weight, weighed } from "./inference/selection";
export { LearnedBuilder, type ModelWithoutPairs, type ServableModel, servable } from "./inference/servable";
export { histogramOf, usageReader, usersWithin } from "./inference/usage";
export {
  type Interactions,
  InteractionsBuilder,
  itemCounts,
  type Pairs,
  selectUsers,
  startsOf,
  sumOf,
} from "./interactions";
export { TooLargeError } from "./kernel";
export type { NeighbourRule } from "./neighbours";
export type { OrderRule, Sequence } from "./order/rule";
export { stepsOf, subtractUser, withoutEmpty } from "./order/transitions";
export { isPlaced } from "./placed";
export { createRandom, DEFAULT_SEED, sample } from "./random";
export { rankingFeatures } from "./ranking/features";
export { type Rankable, rankable } from "./ranking/order";
export {
  LATEST,
  latestOf,
  NONE,
  type Ranking,
  ranked,
  rankingOf,
  unchanged,
} from "./ranking/ranking";
export type { AttributeModel, AttributeTable } from "./training/cold-start";
export { trainG1 } from "./training/g1";
export { latestOrder } from "./training/latest";
export {
  type FoldInRule,
  type G1Model,
  type G1Parameters,
  NotEnoughEventsError,
  type OrderModel,
  type TrainedModel,
  type TrainingProgress,
  type TrainingReport,
} from "./training/model";
export { partRunner } from "./training/part-runner";
export type { Team } from "./training/team";
export type { Work } from "./training/work";
