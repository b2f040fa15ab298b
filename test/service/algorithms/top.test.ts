import { createRandom } from "../../../service/algorithms";
import { nthLowest, TopK, topIndices } from "../../../service/algorithms/top";

test("finds the highest scores that sorting finds, with ties and left-out items", () => {
  const random = createRandom(5);
  for (let round = 0; round < 200; round++) {
    // Few different values, so many are equal.
    const scores = Float32Array.from({ length: random.below(60) }, () =>
      random.next() < 0.2 ? Number.NEGATIVE_INFINITY : random.below(5),
    );
    const sorted = [...scores.keys()]
      .filter((index) => scores[index] > Number.NEGATIVE_INFINITY)
      .sort((a, b) => scores[b] - scores[a] || a - b);
    for (const count of [0, 1, 20, 100]) expect(topIndices(scores, count)).toEqual(sorted.slice(0, count));
  }
});

test("leaves out NaN", () => {
  expect(topIndices([1, Number.NaN, 3], 3)).toEqual([2, 0]);
});

test("finds the nth lowest value without sorting", () => {
  const random = createRandom(6);
  for (let round = 0; round < 300; round++) {
    const length = 1 + random.below(round % 2 === 0 ? 6 : 90);
    const values = Float32Array.from({ length }, () => random.below(1 + random.below(40)));
    const place = random.below(length);
    expect(nthLowest(values.slice(), place)).toBe(values.slice().sort()[place]);
  }
});

test("finds the same highest scores in whichever order items are added", () => {
  const random = createRandom(7);
  for (let round = 0; round < 300; round++) {
    const scores = Float32Array.from({ length: random.below(60) }, () =>
      random.next() < 0.2 ? Number.NEGATIVE_INFINITY : random.below(8) - 4,
    );
    const top = new TopK(20);
    const shuffled = [...scores.keys()].sort((a, b) => ((a * 37) % 61) - ((b * 37) % 61));
    for (const item of shuffled) top.add(item, scores[item]);
    const items = topIndices(scores, 20);
    expect(top.sorted()).toEqual({ items, scores: items.map((item) => scores[item]) });
  }
});
