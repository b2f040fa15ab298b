import { mkdtempSync, rmSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createRandom,
  type Interactions,
  InteractionsBuilder,
  LATEST,
  type Rankable,
  rankingOf,
  servable,
  type TrainedModel,
  trainG1,
} from "../../../service/algorithms";
import { learnWeights } from "../../../service/algorithms/ranking/logit";
import { ranked } from "../../../service/algorithms/ranking/ranking";
import { ItemTrends } from "../../../service/algorithms/training/item-trends";
import {
  type RankingData,
  rankingBasis,
  rankingGenerator,
  rankingLists,
} from "../../../service/algorithms/training/ranking-lists";
import { reportUsersOf } from "../../../service/algorithms/training/report-users";
import { singleThread } from "../../../service/algorithms/training/team";
import { IdIndex } from "../../../service/base/id-index";
import { decodeModel, encodeModel } from "../../../service/files/format/model";
import { type Ordering, ServedModel } from "../../../service/serving/served-model";

const random = createRandom(3);

/** 120 users choose items in a circle, each from a different start. Without an order, times are random. */
function walks(isOrdered: boolean) {
  const builder = new InteractionsBuilder();
  for (let user = 0; user < 120; user++) {
    const begin = random.below(200);
    for (let step = 0; step < 30; step++)
      builder.add(user, (begin + step) % 200, 1, isOrdered ? user * 100 + step : random.next());
  }
  return builder.build(120, 200);
}

const parameters = { dimensions: 8, epochs: 4, alpha: 0.3, regularization: 0.05, neighbours: 0, order: 0 };
const interactions = walks(true);
const model = trainG1({ interactions }, parameters);

function rankingData(of: Interactions, share: number): RankingData {
  return {
    interactions: of,
    others: { pairs: null, recommendSeen: true },
    epochs: 4,
    given: parameters,
    point: {
      dimensions: 8,
      balance: 8,
      strength: 0.3,
      regularizationExponent: 1,
      weighting: "log",
      damping: 0,
      neighbours: { share, popularityExponent: 0.4, similarityExponent: 1 },
    },
    attributes: null,
    records: [],
    team: singleThread,
    reportUsers: reportUsersOf(of),
  };
}

test("learns weights that put chosen candidates first", () => {
  const examples = Array.from({ length: 50 }, () => {
    const features = Float64Array.from({ length: 20 }, () => random.normal());
    const seconds = [...features].filter((_, at) => at % 2 === 1);
    return { features, chosen: seconds.map((second) => second === Math.max(...seconds)) };
  });
  const weights = learnWeights(examples);
  expect(Math.abs(weights[0])).toBeLessThan(weights[1] / 5);
  const [{ features, chosen }] = examples as [(typeof examples)[number]];
  expect(ranked([...chosen.keys()], features, weights)[0]).toBe(chosen.indexOf(true));
});

test("learns a ranking if a user's last items predict the next one", () => {
  const { ndcg20 = 0, without = 0 } = model.report.ranking ?? {};
  expect(model.ranking?.weights).toHaveLength(7);
  expect(ndcg20).toBeGreaterThan(without * 1.02);
});

test("reports that the ranking changes nothing if times are random", () => {
  const { ranking, report } = trainG1({ interactions: walks(false) }, parameters);
  expect(ranking?.weights).toEqual([]);
  expect(report.ranking?.ndcg20).toBe(report.ranking?.without);
});

test("stores a ranking in the model file, and none for a model without one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "recommender-ranking-"));
  const readBack = async (given: typeof model | (Omit<typeof model, "ranking"> & { ranking: null })) => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => `id${at}`);
    const path = join(directory, "model");
    await writeFile(path, encodeModel({ model: given, userIds: ids(120), itemIds: ids(200) }));
    const file = await open(path);
    return (await decodeModel(file).finally(() => file.close())).model.ranking;
  };
  expect(await readBack(model)).toEqual(model.ranking);
  expect(await readBack({ ...model, ranking: null })).toBeNull();
  rmSync(directory, { recursive: true });
});

/** A served model whose ids are the indices of users and items. `more` items are added after the training. */
function serve(of: TrainedModel, more = 0) {
  const ids = (count: number) => Array.from({ length: count }, (_, at) => `id${at}`);
  const [users, items] = [new IdIndex(ids(of.users)), new IdIndex(ids(of.items + more))];
  const placed = { model: servable(of), itemVectors: of.itemVectors, userIds: users.ids, itemIds: items.ids };
  const served = new ServedModel(
    { ...placed, features: [] },
    users,
    items,
    () => {},
    async () => ({ items: [], steps: [] }),
  );
  for (let item = of.items; item < of.items + more; item++) served.placeItem(item, undefined);
  const { recommender } = served;
  return {
    served,
    /** Returns the candidates of a user, and the data to rank them by. */
    asked(user: number, count: number, own = itemsOf(of.interactions, user)) {
      const candidates = recommender.candidates(
        recommender.preferencesOf(user),
        count,
        itemsOf(of.interactions, user),
      );
      const by: Ordering = {
        scores: recommender.foundScores(candidates),
        placed: items,
        userId: `id${user}`,
        preferences: null,
        own: () => own.map((item) => ({ item, weight: 1 })),
      };
      return { candidates, by };
    },
  };
}

function itemsOf({ start, index }: Interactions, user: number): number[] {
  return [...index.subarray(start[user], start[user + 1])];
}

test("a served ranker reorders the candidates of a user, but not those of a user without events", () => {
  const { served, asked } = serve(model);
  const { candidates, by } = asked(5, 120);
  const after = served.order(candidates, by);
  expect(after).not.toEqual(candidates);
  expect([...after].sort()).toEqual([...candidates].sort());
  expect(after.slice(100)).toEqual(candidates.slice(100));
  expect(served.order(candidates, asked(5, 120, []).by)).toEqual(candidates);
});

test("items without a vector come last, and do not change the order of the other items", () => {
  const known = serve(model).asked(5, 40);
  const expected = serve(model).served.order(known.candidates, known.by);
  const { served, asked } = serve(model, 3);
  // The limit is high enough to include items without events.
  const all = asked(5, 1000);
  const cut = { ...all.by, scores: [...known.by.scores, ...all.by.scores.slice(-3)] };
  expect(all.candidates.slice(-3)).toEqual([200, 201, 202]);
  expect(served.order([...known.candidates, 200, 201, 202], cut)).toEqual([...expected, 200, 201, 202]);
});

test.each([
  [0, 0],
  [1, 0],
  [1, 2],
])(
  "serving computes the same features as the training for the same user, with neighbours %d and order %d",
  (share, orderShare) => {
    const setting = { share: orderShare, recency: 2, gapExponent: 0.5, popularityExponent: 0.2 };
    const data = { ...rankingData(interactions, share), order: orderShare > 0 ? setting : null };
    const generator = rankingGenerator(data);
    const lists = rankingLists(data, generator);
    const list = lists[40] as (typeof lists)[number];
    // A model that was trained on the same pairs as the training's generator, at the time of the user's choice.
    const trends = new ItemTrends(interactions).moveTo(list.moment);
    const ofAll = (value: (item: number) => number) =>
      Float32Array.from({ length: interactions.items }, (_, item) => value(item));
    const rule = generator.basis?.rule(setting);
    const order = rule && generator.basis ? { rule, table: generator.basis.table(rule) } : undefined;
    const { served, asked } = serve({
      ...model,
      ...(order && { order }),
      userVectors: generator.factors.userVectors,
      itemVectors: generator.factors.itemVectors,
      stride: generator.factors.stride,
      interactions: { ...generator.train, time: generator.timed.time },
      neighbours: generator.rule,
      ranking: {
        ...rankingBasis({ ...data, interactions: generator.timed }),
        late: ofAll((item) => trends.lateOf(item)),
        age: ofAll((item) => trends.ageOf(item)),
        weights: [1, 0, 0, 0, 0, 0, 0],
      },
    });
    const { candidates, by } = asked(list.user, 120);
    const { places, features } = served.rankable(candidates, by) as Rankable;
    expect(places.map((place) => candidates[place])).toEqual(list.items);
    expect(features).toHaveLength(list.features.length);
    features.forEach((value, at) => {
      expect(value).toBeCloseTo(list.features[at], 3);
    });
  },
);

test("removes the last items of forgotten users from the ranking", () => {
  const ranking = model.ranking as NonNullable<typeof model.ranking>;
  const kept = rankingOf(ranking, Uint32Array.of(5));
  expect([...kept.latest]).toEqual([...ranking.latest.subarray(5 * LATEST, 6 * LATEST)]);
});
