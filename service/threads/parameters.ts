import { g1Parameters, type JsonMap } from "../../contract";
import type { G1Model, G1Parameters } from "../algorithms";

/** The parameters in the form that the mathematics takes. */
export function parametersOf(given: JsonMap): G1Parameters {
  const { regularization_exponent: regularizationExponent, ...others } = g1Parameters.parse(given);
  const entries = Object.entries({ ...others, regularizationExponent }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries(entries) as G1Parameters;
}

/** What a training reports beside the model, under the names that algorithm_parameters has. */
export function reportOf({ parameters, report }: G1Model) {
  const { regularizationExponent, ...others } = parameters;
  return {
    chosenParameters: { ...others, regularization_exponent: regularizationExponent },
    quality: {
      recallAt20: report.quality?.recall20 ?? null,
      ndcgAt20: report.quality?.ndcg20 ?? null,
      popularityRecallAt20: report.popularity?.recall20 ?? null,
      popularityNdcgAt20: report.popularity?.ndcg20 ?? null,
      heldOutPairs: report.heldOut.pairs,
      heldOutUsers: report.heldOut.users,
    },
  };
}
