import { type Features, featureReader } from "../attributes";
import { withOthers } from "../event-weights";
import { penalized, penaltyOf } from "../exposure";
import { type Interactions, itemCounts, selectUsers, without } from "../interactions";
import { arrayBytes, Kernel, paddedRows } from "../kernel";
import { Neighbours } from "../neighbours";
import { createRandom, sample } from "../random";
import { candidateFeatures, type KnownItems } from "../ranking/features";
import { type Example, learnWeights } from "../ranking/logit";
import { CANDIDATES, LATEST, NONE, type Ranking, ranked, unchanged } from "../ranking/ranking";
import { topIndices } from "../top";
import { scaleWeights, weightScaleOf } from "../weighting";
import type { AttributeModel, AttributeTable } from "./cold-start";
import { measure } from "./evaluation";
import { Factorizer, type Factors } from "./ials";
import { holdOutLatest, latestOrder } from "./latest";
import type { G1Parameters, TrainingReport } from "./model";
import { factorParameters, neighbourRule, type Point } from "./point";
import { firstOfProducts } from "./products";
import { Scales } from "./scale";
import type { Team } from "./team";
import type { Others } from "./trial";

/** What a ranking is learned from, and how its generator is trained. */
export interface RankingData {
  /** With times. */
  readonly interactions: Interactions;
  /** What other types of events add. */
  readonly others: Others;
  readonly point: Point;
  readonly epochs: number;
  readonly given: G1Parameters;
  readonly attributes: AttributeModel | null;
  readonly records: AttributeTable["records"];
  readonly team: Team;
}

const SHARE = 0.1;
const SEED = 20_240_229;
const MOST_PAIRS = 300_000;
const MOST_USERS = 2000;
/** Multiplications for the scores of all users, a second or so. */
const MOST_PRODUCTS = 4e9;
const LEAST_USERS = 50;
const DAY_MS = 86_400_000;

interface List extends Example {
  readonly items: readonly number[];
  readonly wanted: Uint32Array;
}

/**
 * Learns to rank the candidates of a generator that has not seen the latest pairs of each user, so that these come first.
 * The weights of one half of the users are measured on the other; where that is no gain beyond chance, nothing changes.
 */
export function learnRanking(data: RankingData): {
  readonly ranking: Ranking;
  readonly report: TrainingReport["ranking"];
} {
  const lists = data.interactions.time ? listsOf(data) : [];
  if (lists.length < LEAST_USERS) return { ranking: unchanged(), report: null };
  const halves = [0, 1].map((half) => lists.filter((_, at) => at % 2 === half)) as [List[], List[]];
  const before = halves.flat().map((list) => measure(list.items, list.wanted).ndcg20);
  const after = halves.flatMap((half, at) => {
    const weights = learnWeights(halves[1 - at] as List[]);
    return half.map((list) => measure(ranked(list.items, list.features, weights), list.wanted).ndcg20);
  });
  const gains = after.map((value, at) => value - (before[at] as number));
  const isGain = mean(gains) > Math.sqrt(mean(gains.map((gain) => gain ** 2)) / gains.length);
  const without = mean(before);
  if (!isGain) return { ranking: unchanged(), report: { ndcg20: without, without } };
  const { late, age } = statistics(data.interactions);
  const ranking = {
    ...{ weights: learnWeights(lists), late, age, latest: latestItems(data.interactions) },
    usual: usualOf(data.interactions, data.attributes, featuresOf(data)),
  };
  return { ranking, report: { ndcg20: mean(after), without } };
}

function listsOf({ interactions, point, epochs, given, attributes, team, ...data }: RankingData): List[] {
  const random = createRandom(SEED);
  const part = Math.ceil((interactions.users * MOST_PAIRS) / interactions.index.length);
  const drawn = part < interactions.users ? sample(random, interactions.users, part) : null;
  const all = drawn ? selectUsers(interactions, drawn) : interactions;
  const { train: timed, test } = holdOutLatest(all, SHARE);
  const { pairs, recommendSeen } = data.others;
  const others = pairs && drawn ? selectUsers(pairs, drawn) : pairs;
  const train = { ...withOthers(timed, others && without(others, test)), time: undefined };
  const scaled = scaleWeights(train, weightScaleOf(train, point.weighting, point.damping));
  const factorizer = new Factorizer(scaled, point.dimensions, team, true);
  factorizer.begin(factorParameters(point, given, new Scales(scaled)), SEED);
  for (let epoch = 0; epoch < epochs; epoch++) factorizer.epoch();
  const factors = factorizer.factors();
  const rule = neighbourRule(point, train);
  const neighbours = rule && new Neighbours(train, rule);
  const features = featuresOf({ attributes, ...data });
  const counts = itemCounts(train);
  const known: KnownItems = {
    ranking: { ...statistics(timed), usual: usualOf(train, attributes, features) },
    usersOf: (item) => counts[item] as number,
    vectorOf: (item) => factors.itemVectors.subarray(item * factors.stride, (item + 1) * factors.stride),
    space: attributes?.space ?? null,
    featuresOf: (item) => features[item],
  };
  const { popularityPenalty } = given;
  const penalties = popularityPenalty
    ? Float32Array.from(counts, (users) => penaltyOf(users, popularityPenalty))
    : null;
  const candidatesOf =
    neighbours || penalties
      ? candidatesByScores(scorer(factors, train.items), (user, scores) => {
          neighbours?.add(scores, rowOf(train, user));
          penalties?.forEach((penalty, item) => {
            scores[item] = penalized(scores[item] as number, penalty);
          });
        })
      : candidatesByProducts(factorizer);
  const latest = latestItems(timed);
  const withAny = Uint32Array.from({ length: test.users }, (_, user) => user).filter(
    (user) => test.start[user] !== test.start[user + 1],
  );
  const most = Math.min(MOST_USERS, Math.ceil(MOST_PRODUCTS / (train.items * factors.stride)));
  return Array.from(sample(random, withAny.length, most), (at) => {
    const user = withAny[at] as number;
    const { items, scores } = candidatesOf(user, rowOf(recommendSeen ? timed : train, user));
    const wanted = rowOf(test, user);
    const features = candidateFeatures(known, {
      ...{ items, scores, own: [...rowOf(train, user)] },
      latest: latest.subarray(user * LATEST, (user + 1) * LATEST).filter((item) => item !== NONE),
    });
    const set = new Set(wanted);
    return { items, features, wanted, chosen: items.map((item) => set.has(item)) };
  });
}

/** The candidates of a user, without what he had, and their scores. */
type CandidatesOf = (user: number, had: Uint32Array) => { items: number[]; scores: number[] };

function candidatesByProducts(factorizer: Factorizer): CandidatesOf {
  const { scratch, ...vectors } = factorizer.measured();
  const first = firstOfProducts(vectors, factorizer.byLength(), scratch[0] as Float32Array, CANDIDATES);
  return (user, had) => {
    const top = first(user, had);
    return { items: top.items(), scores: top.values() };
  };
}

function candidatesByScores(
  scoresOf: (user: number) => Float32Array,
  change: (user: number, scores: Float32Array) => void,
): CandidatesOf {
  return (user, had) => {
    const scores = scoresOf(user);
    change(user, scores);
    for (const item of had) scores[item] = Number.NEGATIVE_INFINITY;
    const items = topIndices(scores, CANDIDATES);
    return { items, scores: items.map((item) => scores[item] as number) };
  };
}

function scorer(
  { stride, userVectors, itemVectors }: Factors,
  items: number,
): (user: number) => Float32Array {
  const rows = paddedRows(items);
  const kernel = new Kernel(arrayBytes(rows * stride) + arrayBytes(stride) + arrayBytes(rows));
  const [vectors, vector, out] = [kernel.floats(rows * stride), kernel.floats(stride), kernel.floats(rows)];
  vectors.set(itemVectors);
  return (user) => {
    vector.set(userVectors.subarray(user * stride, (user + 1) * stride));
    kernel.run.scores(vectors.byteOffset, items, stride, vector.byteOffset, out.byteOffset);
    return out.subarray(0, items);
  };
}

/** Popularity of late and age of each item, as seen from the last event. A fifth of the pairs is late. */
function statistics({ items, index, time = new Float64Array(index.length) }: Interactions) {
  const sorted = time.slice().sort();
  const now = sorted.at(-1) ?? 0;
  const half = now - (sorted[Math.floor(sorted.length * 0.8)] ?? now) || 1;
  const late = new Float32Array(items);
  const first = new Float64Array(items).fill(now);
  index.forEach((item, at) => {
    late[item] = (late[item] as number) + 2 ** (((time[at] as number) - now) / half);
    first[item] = Math.min(first[item] as number, time[at] as number);
  });
  return { late, age: Float32Array.from(first, (begin) => Math.log1p((now - begin) / DAY_MS)) };
}

function latestItems({
  users,
  start,
  index,
  time = new Float64Array(index.length),
}: Interactions): Uint32Array {
  const latest = new Uint32Array(users * LATEST).fill(NONE);
  for (let user = 0; user < users; user++) {
    const [from, to] = [start[user] as number, start[user + 1] as number];
    const order = latestOrder(time.subarray(from, to)).subarray(0, LATEST);
    order.forEach((at, place) => {
      latest[user * LATEST + place] = index[from + at] as number;
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
      sum[at] = (sum[at] as number) + (values[k] as number);
    });
  }
  return Float32Array.from(sum, (value) => value / index.length);
}

function rowOf({ start, index }: Interactions, user: number): Uint32Array {
  return index.subarray(start[user], start[user + 1]);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
