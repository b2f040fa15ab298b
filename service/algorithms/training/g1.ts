// algorithms/training/ learns a model from events and attributes, and measures its quality.

import { type TypedPairs, weighted, withOthers } from "../event-weights";
import { exposureRule } from "../exposure";
import { type Interactions, itemCounts, selectUsers } from "../interactions";
import { OrderBasis, type OrderSetting } from "../order/basis";
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
import {
  type G1Model,
  type G1Parameters,
  NotEnoughEventsError,
  type OrderModel,
  type TrainingProgress,
} from "./model";
import { factorParameters, neighbourRule } from "./point";
import { learnRanking } from "./ranker";
import { reportUsersOf } from "./report-users";
import { Scales } from "./scale";
import { type SearchResult, searchParameters } from "./search";
import { foldInAll, usersToLearnFrom } from "./some-users";
import { singleThread, type Team } from "./team";

/** Data that a model is trained on. Attribute tables are optional. */
export interface TrainingData {
  /** Pairs of the target event. */
  readonly interactions: Interactions;
  /** Pairs of other event types, with the same users and items. */
  readonly others?: readonly TypedPairs[] | undefined;
  readonly userAttributes?: AttributeTable | undefined;
  readonly itemAttributes?: AttributeTable | undefined;
}

const SEED = 1;

/** Trains a model with the algorithm G1: chooses the parameters that are not given, then learns from all data. */
export function trainG1(
  data: TrainingData,
  given: G1Parameters = {},
  onProgress: (progress: TrainingProgress) => void = () => {},
  team: Team = singleThread,
  maxPairs: number = efforts[given.effort ?? DEFAULT_EFFORT].learnedPairs,
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
  const others = { pairs: weighted(data.others ?? [], eventWeights), recommendSeen };
  // Weights that the caller has given are part of the model, even if there are no such events yet.
  const othersCount = Object.values(eventWeights).some((weight) => weight > 0);
  const found = searchParameters(
    target,
    given,
    (fraction, quality, trials) => onProgress({ phase: "search", fraction, quality, trials }),
    team,
    others,
    reportUsers,
  );
  const { point, epochs } = found;
  const { quality } = found.report;
  const interactions = withOthers(target, others.pairs);
  const learned = learnVectors(interactions, found, given, team, maxPairs, (fraction) =>
    onProgress({ phase: "train", fraction, quality }),
  );
  const { parameters, weightScale, stride, userVectors, itemVectors, learnedOn } = learned;

  const { start } = interactions;
  const counts = itemCounts(interactions);
  const hasEvents = (user: number) => start[user] !== start[user + 1];
  const userAttributes = fillCold(data.userAttributes, userVectors, stride, hasEvents);
  onProgress({ phase: "attributes", fraction: 0.5, quality });
  const itemAttributes = fillCold(data.itemAttributes, itemVectors, stride, (item) => counts[item] !== 0);
  const { ranking, report } = learnRanking({
    interactions: target,
    others,
    point,
    order: found.order,
    epochs,
    given,
    team,
    attributes: itemAttributes,
    records: data.itemAttributes?.records ?? [],
    reportUsers,
  });
  onProgress({ phase: "attributes", fraction: 1, quality });
  const exposure = exposureRule(given);
  const neighbours = neighbourRule(point, interactions);
  const order = found.order && orderModel(interactions, counts, found.order);
  return {
    algorithm: "G1",
    parameters: {
      effort: given.effort ?? DEFAULT_EFFORT,
      ...parameters,
      epochs,
      weighting: point.weighting,
      damping: point.damping,
      neighbours: point.neighbours.share,
      popularityExponent: point.neighbours.popularityExponent,
      ...(neighbours?.similarityExponent !== undefined && {
        similarityExponent: neighbours.similarityExponent,
      }),
      ...(found.order && { order: found.order.share }),
      ...(othersCount && { eventWeights, recommendSeen }),
      ...exposure,
    },
    report: { ...found.report, ...(learnedOn && { learnedOn }), ranking: report },
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
    neighbours,
    ...(order && { order }),
    ...(exposure && { exposure }),
    ranking,
    userAttributes,
    itemAttributes,
  };
}

/**
 * Learns the final vectors. If there are too many pairs, it learns the item vectors from a sample of the users, and
 * computes the user vectors by fold-in.
 */
function learnVectors(
  interactions: Interactions,
  { point, epochs }: SearchResult,
  given: G1Parameters,
  team: Team,
  maxPairs: number,
  onEpoch: (fraction: number) => void,
) {
  const weightScale = weightScaleOf(interactions, point.weighting, point.damping);
  const scaled = scaleWeights(interactions, weightScale);
  const some = usersToLearnFrom(scaled, maxPairs);
  const learned = some ? selectUsers(scaled, some) : scaled;
  const parameters = factorParameters(point, given, new Scales(learned));
  const factorizer = new Factorizer(learned, parameters.dimensions, team);
  factorizer.begin(parameters, SEED);
  for (let epoch = 1; epoch <= epochs; epoch++) {
    factorizer.epoch();
    onEpoch(epoch / epochs);
  }
  const factors = factorizer.factors();
  return {
    parameters,
    weightScale,
    stride: factors.stride,
    itemVectors: factors.itemVectors,
    userVectors: some ? foldInAll(scaled, factors, parameters, team) : factors.userVectors,
    learnedOn: some && { users: some.length, of: interactions.users },
  };
}

/** Counts the pairs of successive items in all events. */
function orderModel(
  interactions: Interactions,
  counts: Uint32Array,
  setting: OrderSetting,
): OrderModel | undefined {
  const { time } = interactions;
  if (!time) return undefined;
  const basis = new OrderBasis({ ...interactions, time }, counts);
  const rule = basis.rule(setting);
  return { rule, table: basis.table(rule) };
}

/** Learns to compute vectors from attributes, and sets the vectors of the users or items without events. */
function fillCold(
  table: AttributeTable | undefined,
  vectors: Float32Array,
  stride: number,
  hasEvents: (row: number) => boolean,
): AttributeModel | null {
  const model = table ? learnAttributeModel(table, vectors, stride, hasEvents) : null;
  if (!table || !model) return null;
  const vectorOf = attributeVectors(model);
  for (let row = 0; row < table.records.length; row++) {
    const vector = hasEvents(row) ? null : vectorOf(table.records.at(row));
    if (vector) vectors.set(vector, row * stride);
  }
  return model;
}
