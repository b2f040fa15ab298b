// web/ is a separate, small npm package: a client for web pages and their servers. It imports nothing from this project.

export { RecommenderError } from "./errors.js";
export { forPages, Recommender } from "./recommender.js";
export type {
  KeptIn,
  Recommendations,
  RecommendedItem,
  RecommenderOptions,
  RecommendOptions,
  Source,
  VisitEvent,
} from "./types.js";
