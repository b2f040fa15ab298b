import { type Features, featureReader } from "../attributes";
import { withOthers } from "../event-weights";
import { penalized, penaltyOf } from "../exposure";
import { type Interactions, itemCounts, rowOf, selectUsers, usersWithItems, without } from "../interactions";
import { type NeighbourRule, Neighbours } from "../neighbours";
import { OrderBasis, type OrderSetting } from "../order/basis";
import { UNPLACED } from "../placed";
import { createRandom, DEFAULT_SEED, type Random, sample } from "../random";
import type { KnownItems } from "../ranking/features";
import type { Example } from "../ranking/logit";
import { rankable } from "../ranking/order";
import { LATEST, latestOf, NONE } from "../ranking/ranking";
import { scaleWeights, weightScaleOf } from "../weighting";
import { type CandidatesOf, candidatesByProducts, candidatesByScores } from "./candidates";
import type { AttributeModel, AttributeTable } from "./cold-start";
import type { OtherEvents } from "./folds";
import { Factorizer, type Factors } from "./ials";
import { ItemTrends } from "./item-trends";
import { holdOutLatest, latestOrder } from "./latest";
import type { G1Parameters } from "./model";
import { factorParameters, neighbourRule, type Point } from "./point";
import type { ReportUsers } from "./report-users";
import { Scales } from "./scale";
import type { Team } from "./team";

/** Data to learn a ranking from, and parameters of its generator. */
export interface RankingData {
  /** Pairs of the target event, with times. */
  readonly interactions: Interactions;
  readonly others: OtherEvents;
  readonly point: Point;
  /** How the order of events counts; absent or null if it does not. */
  readonly order?: OrderSetting | null;
  readonly epochs: number;
  readonly given: G1Parameters;
  readonly attributes: AttributeModel | null;
  readonly records: AttributeTable["records"];
  readonly team: Team;
  /** Users that the report is measured on. They have no part in deciding whether the ranking is used. */
  readonly reportUsers: ReportUsers;
}

/** A generator that is trained without the latest pairs of each user. */
export interface RankingGenerator {
  readonly random: Random;
  /** The sample of users that the generator is trained on; null if it is trained on all users. */
  readonly drawn: Uint32Array | null;
  /** All target pairs of these users. */
  readonly all: Interactions;
  /** Target pairs that the generator is trained on, with times. */
  readonly timed: Interactions;
  /** The latest target pairs, which are held out. */
  readonly test: Interactions;
  /** Pairs that the generator is trained on, including other event types. */
  readonly train: Interactions;
  /** The same pairs prepared for order scores; null if the order does not count. */
  readonly basis: OrderBasis | null;
  readonly factors: Factors;
  readonly factorizer: Factorizer;
  readonly rule: NeighbourRule | null;
}

/** The candidates of one user, their features, and which ones the user chose. */
export interface RankingList extends Example {
  readonly user: number;
  /** Time at which the user chose the first of the held-out items. */
  readonly moment: number;
  readonly items: readonly number[];
  /** The held-out items. */
  readonly wanted: Uint32Array;
  /** Whether the list belongs to a user of the report. */
  readonly isReporting: boolean;
}

const SHARE = 0.1;
const MOST_PAIRS = 300_000;
const MOST_USERS = 2000;
/** Maximum number of multiplications for computing all scores. This many take about a second. */
const MOST_PRODUCTS = 4e9;

/** Trains a generator without the latest pairs of each user, on a sample of the users if there are many. */
export function rankingGenerator(data: RankingData) {
  const { interactions, point, order, epochs, given, team, others } = data;
  const random = createRandom(DEFAULT_SEED);
  const part = Math.ceil((interactions.users * MOST_PAIRS) / interactions.index.length);
  const drawn = part < interactions.users ? sample(random, interactions.users, part) : null;
  const all = drawn ? selectUsers(interactions, drawn) : interactions;
  const { train: timed, test } = holdOutLatest(all, SHARE);
  const otherPairs = others.pairs && drawn ? selectUsers(others.pairs, drawn) : others.pairs;
  const whole = withOthers(timed, otherPairs && without(otherPairs, test));
  const { time } = whole;
  const train = { ...whole, time: undefined };
  const basis = order && time ? new OrderBasis({ ...whole, time }, itemCounts(whole)) : null;
  const scaled = scaleWeights(train, weightScaleOf(train, point.weighting, point.damping));
  const factorizer = new Factorizer(scaled, point.dimensions, team, true);
  factorizer.begin(factorParameters(point, given, new Scales(scaled)), DEFAULT_SEED);
  for (let epoch = 0; epoch < epochs; epoch++) factorizer.epoch();
  const factors = factorizer.factors();
  const rule = neighbourRule(point, train);
  return {
    random,
    drawn,
    all,
    timed,
    test,
    train,
    basis,
    factors,
    factorizer,
    rule,
  } satisfies RankingGenerator;
}

/** Returns the generator's candidates for a sample of users, in the order of each user's first held-out choice. */
export function rankingLists(data: RankingData, generator: RankingGenerator): RankingList[] {
  const { random, drawn, all, timed, test, train, factors } = generator;
  const counts = itemCounts(train);
  const features = featuresOf(data);
  // When serving, the counts include all users. So each user of a sample is counted several times.
  const times = drawn ? data.interactions.users / drawn.length : 1;
  const trends = new ItemTrends(all, times);
  const known: KnownItems = {
    lateOf: (item) => trends.lateOf(item),
    ageOf: (item) => trends.ageOf(item),
    usual: usualOf(train, data.attributes, features),
    usersOf: (item) => counts[item] * times,
    vectorOf: (item) => factors.itemVectors.subarray(item * factors.stride, (item + 1) * factors.stride),
    space: data.attributes?.space ?? null,
    featuresOf: (item) => features[item],
  };
  const candidatesOf = candidatesFor(data, generator, counts);
  const latest = latestItems(timed);
  const withAny = usersWithItems(test);
  const most = Math.min(MOST_USERS, Math.ceil(MOST_PRODUCTS / (train.items * factors.stride)));
  return Array.from(sample(random, withAny.length, most), (at) => withAny[at])
    .map((user) => ({ user, moment: firstTime(test, user) }))
    .sort((a, b) => a.moment - b.moment || a.user - b.user)
    .map(({ user, moment }) => {
      trends.moveTo(moment);
      const found = candidatesOf(user, rowOf(data.others.recommendSeen ? timed : train, user));
      const wanted = rowOf(test, user);
      const own = [...rowOf(train, user)];
      const { places, features } = rankable(known, { ...found, own, latest: latestOf({ latest }, user) });
      const items = places.map((place) => found.items[place]);
      const set = new Set(wanted);
      return {
        user,
        moment,
        items,
        features,
        wanted,
        chosen: items.map((item) => set.has(item)),
        isReporting: data.reportUsers.isReporting[drawn ? drawn[user] : user] === 1,
      };
    });
}

/** Returns the facts about items and users that a ranking needs, at the time of the last event. */
export function rankingBasis(data: RankingData) {
  const trends = new ItemTrends(data.interactions).moveTo(Number.POSITIVE_INFINITY);
  const { items } = data.interactions;
  const ofAll = (value: (item: number) => number) =>
    Float32Array.from({ length: items }, (_, item) => value(item));
  return {
    late: ofAll((item) => trends.lateOf(item)),
    age: ofAll((item) => trends.ageOf(item)),
    latest: latestItems(data.interactions),
    usual: usualOf(data.interactions, data.attributes, featuresOf(data)),
  };
}

/** Finds candidates as the service does. Items without users come last or are left out. */
function candidatesFor(
  { given, order }: RankingData,
  { train, basis, factors, factorizer, rule }: RankingGenerator,
  counts: Uint32Array,
): CandidatesOf {
  const neighbours = rule && new Neighbours(train, rule);
  const { popularityPenalty } = given;
  const orderRule = order && basis?.rule(order);
  const orderScores = orderRule && basis?.scores(orderRule);
  if (!neighbours && !orderScores && !popularityPenalty) return candidatesByProducts(factorizer);
  const penalties = popularityPenalty
    ? Float32Array.from(counts, (users) => penaltyOf(users, popularityPenalty))
    : null;
  return candidatesByScores(factors, train.items, (user, scores) => {
    neighbours?.add(scores, rowOf(train, user));
    if (basis && orderRule) orderScores?.add(scores, basis.sequence(orderRule, user));
    for (let item = 0; item < scores.length; item++) {
      if (penalties) scores[item] = penalized(scores[item], penalties[item]);
      if (counts[item] === 0) scores[item] = UNPLACED;
    }
  });
}

function firstTime({ start, time }: Interactions, user: number): number {
  return time?.subarray(start[user], start[user + 1]).reduce((a, b) => Math.min(a, b)) ?? 0;
}

function latestItems({
  users,
  start,
  index,
  time = new Float64Array(index.length),
}: Interactions): Uint32Array {
  const latest = new Uint32Array(users * LATEST).fill(NONE);
  for (let user = 0; user < users; user++) {
    const [from, to] = [start[user], start[user + 1]];
    const order = latestOrder(time.subarray(from, to)).subarray(0, LATEST);
    order.forEach((at, place) => {
      latest[user * LATEST + place] = index[from + at];
    });
  }
  return latest;
}

function featuresOf({ attributes, records }: Pick<RankingData, "attributes" | "records">): Features[] {
  if (!attributes) return [];
  const read = featureReader(attributes.space);
  return Array.from(records, read);
}

function usualOf(
  { index }: Interactions,
  attributes: AttributeModel | null,
  features: readonly Features[],
): Float32Array {
  const sum = new Float64Array(attributes?.space.size ?? 0);
  for (const item of index) {
    const { places = [], values = [] } = features[item] ?? {};
    places.forEach((at, k) => {
      sum[at] += values[k];
    });
  }
  return Float32Array.from(sum, (value) => value / index.length);
}
