import { createRandom } from "../../../service/algorithms";
import { nthLowest, Top, topIndices, topOfSums } from "../../../service/algorithms/top";

test("the highest sums are those that adding first and sorting then finds, whatever is equal or left out", () => {
  const random = createRandom(5);
  for (let round = 0; round < 200; round++) {
    const length = random.below(60);
    // Few values, so that many are equal; all of them are exact.
    const own = Float32Array.from({ length }, () =>
      random.next() < 0.2 ? Number.NEGATIVE_INFINITY : random.below(5),
    );
    const adds = Float32Array.from({ length }, () => random.below(4));
    const sums = own.map((value, at) => value + 2 * adds[at]);
    expect(topOfSums(own, adds, 2, 20)).toEqual(topIndices(sums, 20));
  }
});

test("the value at a place of the ascending order is the one that sorting finds", () => {
  const random = createRandom(6);
  for (let round = 0; round < 300; round++) {
    const length = 1 + random.below(round % 2 === 0 ? 6 : 90);
    const values = Float32Array.from({ length }, () => random.below(1 + random.below(40)));
    const place = random.below(length);
    expect(nthLowest(values.slice(), place)).toBe(values.slice().sort()[place]);
  }
});

test("the highest of what is added are the same in whatever order it comes", () => {
  const random = createRandom(7);
  for (let round = 0; round < 300; round++) {
    const scores = Float32Array.from({ length: random.below(60) }, () =>
      random.next() < 0.2 ? Number.NEGATIVE_INFINITY : random.below(8) - 4,
    );
    const top = new Top(20);
    const places = [...scores.keys()].sort((a, b) => ((a * 37) % 61) - ((b * 37) % 61));
    for (const place of places) top.add(place, scores[place]);
    expect(top.items()).toEqual(topIndices(scores, 20));
    expect(top.values()).toEqual(top.items().map((place) => scores[place]));
  }
});
