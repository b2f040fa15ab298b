export {
  type AttributeSchema,
  type Attributes,
  attributeOf,
  attributeValues,
  categoriesOf,
  inferSchema,
} from "./attributes";
export { clusterUsers } from "./clustering";
export type { AttributeTable } from "./cold-start";
export { trainG1 } from "./g1";
export { type Interactions, InteractionsBuilder, itemCounts, type Pairs, selectUsers } from "./interactions";
export { type G1Parameters, NotEnoughEventsError, type TrainedModel, type TrainingProgress } from "./model";
export { placedVectors, Recommender, type UserItem } from "./serving";
export { histogramOf, usageReader, usersWithin } from "./usage";
