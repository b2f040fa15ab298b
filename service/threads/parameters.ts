import { g1Parameters, type JsonMap, tolerant } from "../../contract";
import type { G1Model, G1Parameters, HeldOutReport, TrainingReport } from "../algorithms";

/** Converts algorithm_parameters to the form that the algorithms take. */
export function parametersOf(given: JsonMap): G1Parameters {
  const {
    regularization_exponent: regularizationExponent,
    popularity_exponent: popularityExponent,
    similarity_exponent: similarityExponent,
    event_weights: eventWeights,
    recommend_seen: recommendSeen,
    popularity_penalty: popularityPenalty,
    ...others
    // An algorithm created by an earlier version may exceed the current limits.
  } = tolerant(g1Parameters).parse(given);
  const renamed = {
    regularizationExponent,
    popularityExponent,
    similarityExponent,
    eventWeights,
    recommendSeen,
    popularityPenalty,
  };
  const entries = Object.entries({ ...others, ...renamed }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as G1Parameters;
}

/** Report of a training. */
export interface Report {
  readonly chosenParameters: JsonMap;
  readonly quality: ReturnType<typeof qualityOf>;
}

/** Returns the report of a G1 training, with the parameter names of algorithm_parameters. */
export function reportOf({ parameters, report }: G1Model): Report {
  const { regularizationExponent, popularityExponent, eventWeights, recommendSeen, ...rest } = parameters;
  const { similarityExponent, popularityPenalty, ...others } = rest;
  return {
    chosenParameters: {
      ...others,
      regularization_exponent: regularizationExponent,
      ...(others.neighbours > 0 && { popularity_exponent: popularityExponent }),
      ...(similarityExponent !== undefined && { similarity_exponent: similarityExponent }),
      ...(eventWeights && { event_weights: eventWeights, recommend_seen: recommendSeen }),
      ...(popularityPenalty !== undefined && { popularity_penalty: popularityPenalty }),
    },
    quality: qualityOf(report),
  };
}

/** Converts the measurements of a report to the field names of the API. */
export function qualityOf({
  quality,
  popularity,
  heldOut,
  learnedOn,
  ranking,
  exposure,
}: HeldOutReport & Pick<TrainingReport, "learnedOn">) {
  return {
    recallAt20: quality?.recall20 ?? null,
    ndcgAt20: quality?.ndcg20 ?? null,
    popularityRecallAt20: popularity?.recall20 ?? null,
    popularityNdcgAt20: popularity?.ndcg20 ?? null,
    heldOutPairs: heldOut.pairs,
    heldOutUsers: heldOut.users,
    holdOut: heldOut.kind ?? null,
    ...(learnedOn && { learnedOnUsers: learnedOn.users, allUsers: learnedOn.of }),
    rankedNdcgAt20: ranking?.ndcg20 ?? null,
    unrankedNdcgAt20: ranking?.without ?? null,
    coverageAt20: exposure?.coverage20 ?? null,
    coldItemsAt20: exposure?.coldItems20 ?? null,
    diversityAt20: exposure?.diversity20 ?? null,
    shownPopularityAt20: exposure?.shownPopularity20 ?? null,
    chosenPopularity: exposure?.chosenPopularity ?? null,
  };
}
