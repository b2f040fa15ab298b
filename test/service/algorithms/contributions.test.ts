import { servable, trainG1 } from "../../../service/algorithms";
import { Recommender } from "../../../service/algorithms/inference/recommender";
import { InteractionsBuilder } from "../../../service/algorithms/interactions";
import { createRandom } from "../../../service/algorithms/random";

const [users, items] = [60, 30];

/** Two groups of users with different preferences, and some noise. */
function trained(neighbours: number, similarityExponent: number) {
  const random = createRandom(3);
  const builder = new InteractionsBuilder();
  for (let user = 0; user < users; user++)
    for (let item = user % 2; item < items; item += 2) if (random.normal() > 0) builder.add(user, item, 1);
  const parameters = {
    dimensions: 8,
    regularization: 0.01,
    alpha: 0.1,
    epochs: 4,
    neighbours,
    similarityExponent,
  };
  return new Recommender(servable(trainG1({ interactions: builder.build() }, parameters)));
}

test.each([
  [0, 1],
  [0.5, 1],
  [0.5, 1.5],
])(
  "the contributions of a user's items add up to the score, with neighbours %s and similarity exponent %s",
  (neighbours, similarityExponent) => {
    const recommender = trained(neighbours, similarityExponent);
    const own = [0, 2, 4, 9].map((item, at) => ({ item, weight: 1 + at }));
    const preferences = recommender.preferencesFromItems(own);
    const targets = recommender.top(
      preferences,
      10,
      own.map(({ item }) => item),
    );
    const scores = recommender.scoresOf(targets, preferences);
    const parts = recommender.explain(own, targets);
    expect(parts.map(({ item }) => item).sort()).toEqual([0, 2, 4, 9]);
    targets.forEach((_, at) => {
      const sum = parts.reduce((all, part) => all + part.vectors[at] + part.neighbours[at], 0);
      expect(sum).toBeCloseTo(scores[at], 4);
    });
    const said = parts.reduce((all, part) => all + part.neighbours.reduce((sum, one) => sum + one, 0), 0);
    expect(said > 0).toBe(neighbours > 0);
  },
);
