// algorithms/training/ learns a model from events and attributes, and measures how good it is.

import { type TypedPairs, weighted, withOthers } from "../event-weights";
import { exposureRule } from "../exposure";
import { type Interactions, itemCounts, selectUsers } from "../interactions";
import { scaleWeights, weightScaleOf } from "../weighting";
import {
  type AttributeModel,
  type AttributeTable,
  attributeVectors,
  learnAttributeModel,
} from "./cold-start";
import { DEFAULT_EFFORT, efforts } from "./effort";
import { searchEventRule } from "./event-types";
import { Factorizer } from "./ials";
import { type G1Model, type G1Parameters, NotEnoughEventsError, type TrainingProgress } from "./model";
import { factorParameters, neighbourRule } from "./point";
import { learnRanking } from "./ranker";
import { reportUsersOf } from "./report-users";
import { Scales } from "./scale";
import { searchParameters } from "./search";
import { foldInAll, usersToLearnFrom } from "./some-users";
import { alone, type Team } from "./team";

/** What a model is trained from; attribute tables may be left out. */
export interface TrainingData {
  /** Those of the target event. */
  readonly interactions: Interactions;
  /** Those of other types, over the same users and items. */
  readonly others?: readonly TypedPairs[] | undefined;
  readonly userAttributes?: AttributeTable | undefined;
  readonly itemAttributes?: AttributeTable | undefined;
}

const SEED = 1;

/** Trains the algorithm G1: chooses the parameters that are not given, then learns from everything. */
export function trainG1(
  data: TrainingData,
  given: G1Parameters = {},
  onProgress: (progress: TrainingProgress) => void = () => {},
  team: Team = alone,
  mostPairs: number = efforts[given.effort ?? DEFAULT_EFFORT].learnedPairs,
): G1Model {
  const { interactions: target } = data;
  if (target.index.length === 0) throw new NotEnoughEventsError();
  const reportUsers = reportUsersOf(target);
  const { weights: eventWeights, recommendSeen } = searchEventRule(
    target,
    data.others ?? [],
    given,
    team,
    (fraction, quality) => onProgress({ phase: "weights", fraction, quality }),
    reportUsers,
  );
  const others = weighted(data.others ?? [], eventWeights);
  // Given weights count in service too where there are no such events yet.
  const othersCount = Object.values(eventWeights).some((weight) => weight > 0);
  const choice = searchParameters(
    target,
    given,
    (fraction, quality, trials) => onProgress({ phase: "search", fraction, quality, trials }),
    team,
    { pairs: others, recommendSeen },
    reportUsers,
  );
  const interactions = withOthers(target, others);
  const { quality } = choice.report;

  const { weighting, damping, neighbours } = choice.point;
  const weightScale = weightScaleOf(interactions, weighting, damping);
  const scaled = scaleWeights(interactions, weightScale);
  const some = usersToLearnFrom(scaled, mostPairs);
  const learned = some ? selectUsers(scaled, some) : scaled;
  const parameters = factorParameters(choice.point, given, new Scales(learned));
  const factorizer = new Factorizer(learned, parameters.dimensions, team);
  factorizer.begin(parameters, SEED);
  for (let epoch = 1; epoch <= choice.epochs; epoch++) {
    factorizer.epoch();
    onProgress({ phase: "train", fraction: epoch / choice.epochs, quality });
  }

  const factors = factorizer.factors();
  const { stride, itemVectors } = factors;
  const userVectors = some ? foldInAll(scaled, factors, parameters, team) : factors.userVectors;
  const { start } = interactions;
  const counts = itemCounts(interactions);
  const warmUser = (user: number) => start[user] !== start[user + 1];
  const warmItem = (item: number) => counts[item] !== 0;
  const userAttributes = fillCold(data.userAttributes, userVectors, stride, warmUser);
  onProgress({ phase: "attributes", fraction: 0.5, quality });
  const itemAttributes = fillCold(data.itemAttributes, itemVectors, stride, warmItem);
  const { ranking, report } = learnRanking({
    ...{
      interactions: target,
      others: { pairs: others, recommendSeen },
      point: choice.point,
      epochs: choice.epochs,
      given,
      team,
    },
    ...{ attributes: itemAttributes, records: data.itemAttributes?.records ?? [], reportUsers },
  });
  onProgress({ phase: "attributes", fraction: 1, quality });
  const exposure = exposureRule(given);
  return {
    algorithm: "G1",
    parameters: {
      effort: given.effort ?? DEFAULT_EFFORT,
      ...parameters,
      ...{ epochs: choice.epochs, weighting, damping, neighbours: neighbours.share },
      popularityExponent: neighbours.popularityExponent,
      ...(othersCount && { eventWeights, recommendSeen }),
      ...exposure,
    },
    report: {
      ...choice.report,
      ...(some && { learnedOn: { users: some.length, of: interactions.users } }),
      ranking: report,
    },
    stride,
    users: interactions.users,
    items: interactions.items,
    userVectors,
    itemVectors,
    interactions,
    ...(othersCount && { eventRule: { weights: eventWeights, recommendSeen } }),
    foldIn: {
      rule: "ials",
      alpha: parameters.alpha,
      regularization: parameters.regularization,
      regularizationExponent: parameters.regularizationExponent,
      weightScale,
    },
    neighbours: neighbourRule(choice.point, interactions),
    ...(exposure && { exposure }),
    ranking,
    userAttributes,
    itemAttributes,
  };
}

function fillCold(
  table: AttributeTable | undefined,
  vectors: Float32Array,
  stride: number,
  warm: (row: number) => boolean,
): AttributeModel | null {
  const model = table ? learnAttributeModel(table, vectors, stride, warm) : null;
  if (!table || !model) return null;
  const vectorOf = attributeVectors(model);
  for (let row = 0; row < table.records.length; row++) {
    const vector = warm(row) ? null : vectorOf(table.records.at(row));
    if (vector) vectors.set(vector, row * stride);
  }
  return model;
}
