export {
  type AttributeKind,
  type AttributeSchema,
  type Attributes,
  type AttributeValue,
  attributeValues,
  categoriesOf,
  inferSchema,
} from "./attributes";
export { clusterUsers, type Marker, type UserGroup } from "./clustering";
export type { AttributeModel, AttributeTable } from "./cold-start";
export { measure, type Quality } from "./evaluation";
export { type TrainingData, trainG1 } from "./g1";
export { type Interactions, InteractionsBuilder } from "./interactions";
export {
  type G1Parameters,
  NotEnoughEventsError,
  type ResolvedParameters,
  type TrainedModel,
  type TrainingProgress,
  type TrainingReport,
} from "./model";
export { Recommender, type UserItem } from "./serving";
export { type Histogram, histogramOf, usageOf, usersWithin } from "./usage";
export type { Weighting, WeightScale } from "./weighting";
