import { mkdtempSync, rmSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createRandom,
  InteractionsBuilder,
  LATEST,
  rankingOf,
  servable,
  trainG1,
} from "../../../service/algorithms";
import { learnWeights } from "../../../service/algorithms/ranking/logit";
import { ranked } from "../../../service/algorithms/ranking/ranking";
import { Places } from "../../../service/base/places";
import { decodeModel, encodeModel } from "../../../service/files/format/model";
import { ServedModel } from "../../../service/serving/served-model";

const random = createRandom(3);

/** 120 users go through rings of items one after another, from a place of their own; without an order, at random times. */
function walks(isOrdered: boolean) {
  const builder = new InteractionsBuilder();
  for (let user = 0; user < 120; user++) {
    const begin = random.below(200);
    for (let step = 0; step < 30; step++)
      builder.add(user, (begin + step) % 200, 1, isOrdered ? user * 100 + step : random.next());
  }
  const interactions = builder.build(120, 200);
  return trainG1(
    { interactions },
    { dimensions: 8, epochs: 4, alpha: 0.3, regularization: 0.05, neighbours: 0 },
  );
}

const model = walks(true);

test("weights are learned by which what was chosen comes first", () => {
  const examples = Array.from({ length: 50 }, () => {
    const features = Float64Array.from({ length: 20 }, () => random.normal());
    const seconds = [...features].filter((_, at) => at % 2 === 1);
    return { features, chosen: seconds.map((second) => second === Math.max(...seconds)) };
  });
  const weights = learnWeights(examples);
  expect(Math.abs(weights[0] as number)).toBeLessThan((weights[1] as number) / 5);
  const [{ features, chosen }] = examples as [(typeof examples)[number]];
  expect(ranked([...chosen.keys()], features, weights)[0]).toBe(chosen.indexOf(true));
});

test("a ranking is learned where what a user chose last says what comes next", () => {
  const { ndcg20 = 0, without = 0 } = model.report.ranking ?? {};
  expect(model.ranking?.weights).toHaveLength(7);
  expect(ndcg20).toBeGreaterThan(without * 1.02);
});

test("where times say nothing the ranking changes nothing, and the report says so", () => {
  const { ranking, report } = walks(false);
  expect(ranking?.weights).toEqual([]);
  expect(report.ranking?.ndcg20).toBe(report.ranking?.without);
});

test("a ranking is written to the model's file and read from it; a model without one has none", async () => {
  const folder = mkdtempSync(join(tmpdir(), "recommender-ranking-"));
  const readBack = async (given: typeof model | (Omit<typeof model, "ranking"> & { ranking: null })) => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => `id${at}`);
    const path = join(folder, "model");
    await writeFile(path, encodeModel({ model: given, userIds: ids(120), itemIds: ids(200) }));
    const file = await open(path);
    return (await decodeModel(file).finally(() => file.close())).model.ranking;
  };
  expect(await readBack(model)).toEqual(model.ranking);
  expect(await readBack({ ...model, ranking: null })).toBeNull();
  rmSync(folder, { recursive: true });
});

test("a served ranker puts a user's candidates in another order, and leaves those of a user without events", () => {
  const ids = (count: number) => Array.from({ length: count }, (_, at) => `id${at}`);
  const [users, items] = [new Places(ids(120)), new Places(ids(200))];
  const placed = {
    model: servable(model),
    itemVectors: model.itemVectors,
    userIds: users.ids,
    itemIds: items.ids,
  };
  const served = new ServedModel(
    { ...placed, features: [] },
    users,
    items,
    () => {},
    async () => [],
  );
  const { start, index } = model.interactions;
  const own = [...index.subarray(start[5], start[6])];
  const { recommender } = served;
  const best = recommender.top(recommender.userTaste(5), 120, own);
  const rank = (of: number[]) =>
    served.order(best, {
      ...{ scores: recommender.foundScores(best), placed: items, userId: "id5", taste: null },
      own: () => of.map((item) => ({ item, weight: 1 })),
    });
  const after = rank(own);
  expect(after).not.toEqual(best);
  expect([...after].sort()).toEqual([...best].sort());
  expect(after.slice(100)).toEqual(best.slice(100));
  expect(rank([])).toEqual(best);
});

test("what forgotten users chose last is gone from the ranking", () => {
  const ranking = model.ranking as NonNullable<typeof model.ranking>;
  const kept = rankingOf(ranking, Uint32Array.of(5));
  expect([...kept.latest]).toEqual([...ranking.latest.subarray(5 * LATEST, 6 * LATEST)]);
});
