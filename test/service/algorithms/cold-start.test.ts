import {
  type Attributes,
  inferSchema,
  placedVectors,
  Recommender,
  servable,
  trainG1,
} from "../../../service/algorithms";
import { featureReader, learnFeatures } from "../../../service/algorithms/attributes";
import { filterEntries, itemCounts } from "../../../service/algorithms/interactions";
import { topIndices } from "../../../service/algorithms/top";
import { measure } from "../../../service/algorithms/training/evaluation";
import { createWorld } from "./world";

const world = createWorld({ users: 600, items: 300, eventsPerUser: 25, seed: 4 });
const userRecords: Attributes[] = world.likes.map((liked, user) => ({
  likes: liked.map((genre) => `g${genre}`),
  age: user % 60,
}));
const itemRecords: Attributes[] = world.genres.map((genre) => ({ genre: `g${genre}` }));
const coldUser = (user: number) => user >= 500;
const coldItem = (item: number) => item % 10 === 3;
const interactions = filterEntries(
  world.interactions,
  (entry, user) => !coldUser(user) && !coldItem(world.interactions.index[entry]),
);
const model = trainG1(
  {
    interactions,
    userAttributes: { schema: null, records: userRecords },
    itemAttributes: { schema: { genre: "CATEGORICAL" }, records: itemRecords },
  },
  { dimensions: 16 },
);
const recommender = new Recommender(servable(model));

function wantedBy(user: number, keep: (item: number) => boolean): Uint32Array {
  return world.interactions.index
    .slice(world.interactions.start[user], world.interactions.start[user + 1])
    .filter(keep);
}

test("recommends better items than the popular ones to users with attributes but without events", () => {
  const popular = topIndices(itemCounts(interactions), 20);
  let learned = 0;
  let plain = 0;
  for (let user = 500; user < 600; user++) {
    const wanted = wantedBy(user, (item) => !coldItem(item));
    learned += measure(recommender.top(recommender.preferencesOf(user), 20), wanted).ndcg20;
    plain += measure(popular, wanted).ndcg20;
  }
  expect(learned).toBeGreaterThan(1.3 * plain);
});

test("ranks items without events by their attributes for each user", () => {
  const cold = world.genres.flatMap((_, item) => (coldItem(item) ? [item] : []));
  let liked = 0;
  let seen = 0;
  for (let user = 0; user < 500; user++) {
    const best = recommender.rerank(cold, recommender.preferencesOf(user))[0];
    seen++;
    if (world.likes[user]?.includes(world.genres[best])) liked++;
  }
  expect(liked / seen).toBeGreaterThan(0.8);
});

test("does not flood the recommendations with items without events", () => {
  let cold = 0;
  let all = 0;
  for (let user = 0; user < 500; user++) {
    for (const item of recommender.top(recommender.preferencesOf(user), 20)) {
      all++;
      if (coldItem(item)) cold++;
    }
  }
  expect(cold).toBeGreaterThan(0);
  expect(cold / all).toBeLessThan(0.2);
});

test("uses attributes for users and items that are added after the training", () => {
  const [first, second] = [world.likes[510]?.[0], world.likes[510]?.[1]];
  const preferences = recommender.preferencesFromAttributes(userRecords[510]);
  expect(preferences?.vector).toEqual(recommender.preferencesOf(510)?.vector.slice());
  const later = new Recommender(servable(model));
  later.place(300, { genre: `g${first}` });
  later.place(301, { genre: `g${(Math.max(first ?? 0, second ?? 0) + 1) % 10}` });
  const [best] = later.rerank([300, 301], preferences);
  expect(best).toBe(300);
});

test("ranks items that are added one by one like items that existed from the start", () => {
  const one = new Recommender(servable(model));
  const attributes = new Map<number, Attributes>();
  for (let item = 300; item < 600; item++) {
    const record = item % 7 === 0 ? {} : { genre: `g${item % 10}` };
    attributes.set(item, record);
    one.place(item, record);
  }
  const whole = new Recommender(servable(model), placedVectors(servable(model), 600, attributes));
  for (const user of [0, 17, 510]) {
    expect(one.top(one.preferencesOf(user), 600)).toEqual(whole.top(whole.preferencesOf(user), 600));
  }
  expect(one.top(null, 600)).toEqual(whole.top(null, 600));
  const events = [
    { item: 3, weight: 1 },
    { item: 450, weight: 1 },
  ];
  expect(one.preferencesFromItems(events)).toEqual(whole.preferencesFromItems(events));
});

test("falls back to popularity if attributes are useless or missing", () => {
  expect(recommender.preferencesFromAttributes(undefined)).toBeNull();
  expect(recommender.preferencesFromAttributes({ likes: "never seen", colour: "red" })).toBeNull();
  expect(recommender.top(null, 5)).toEqual(topIndices(itemCounts(interactions), 5));
  expect(
    new Recommender(
      servable(trainG1({ interactions }, { dimensions: 8, epochs: 1 })),
    ).preferencesFromAttributes({
      age: 3,
    }),
  ).toBeNull();
});

test("infers the kinds of attributes: numbers are numerical; strings, lists and mixtures are categorical", () => {
  const records = [
    { age: 3, tags: ["a"], name: "x", mixed: 1 },
    { mixed: "one", age: null },
  ];
  expect(inferSchema(records)).toEqual({
    age: "NUMERICAL",
    mixed: "CATEGORICAL",
    name: "CATEGORICAL",
    tags: "CATEGORICAL",
  });
});

test("standardizes numbers, leaves out categories that occur once, and divides the weight among several categories", () => {
  const records = [{ n: 1, c: ["a", "b"] }, { n: 3, c: "a" }, { n: "2", c: ["b", "rare"] }, undefined];
  const space = learnFeatures(records, { n: "NUMERICAL", c: "CATEGORICAL" });
  expect(space.size).toBe(3);
  const read = featureReader(space);
  expect(read({ n: 2 })).toEqual({ places: [0], values: [0] });
  expect(read({ c: ["a", "b", "rare"] }).values).toEqual([1 / Math.sqrt(2), 1 / Math.sqrt(2)]);
  expect(read({ n: 1e9 }).values).toEqual([4]);
  expect(read({ n: "many", c: null })).toEqual({ places: [], values: [] });
});
