import { stampOf } from "../../../service/algorithms/inference/servable";
import { createRandom } from "../../../service/algorithms/random";

test("the hash of a user's pairs does not depend on their order, and is 0 without pairs", () => {
  expect(stampOf([7, 3, 9], [1, 2.5, 4])).toBe(stampOf([9, 7, 3], [4, 1, 2.5]));
  expect(stampOf([], [])).toBe(0);
});

test("pairs that differ a little have different hashes", () => {
  const one = stampOf([3, 7, 9], [1, 2, 4]);
  const others = [
    stampOf([3, 7, 9], [2, 1, 4]),
    stampOf([3, 7, 9], [1, 2, Math.fround(4.0000005)]),
    stampOf([3, 7], [1, 2]),
    stampOf([3, 7, 9, 0], [1, 2, 4, 0]),
    stampOf([3, 7, 8], [1, 2, 4]),
    stampOf([3, 7, 9], [-1, 2, 4]),
  ];
  expect(new Set([one, ...others]).size).toBe(7);
});

test("a hundred thousand similar rows have different hashes", () => {
  const random = createRandom(5);
  const stamps = new Set<number>();
  const items = Array.from({ length: 20 }, (_, item) => item);
  const weights = items.map(() => 1);
  for (let step = 0; step < 100_000; step++) {
    const at = random.below(items.length);
    items[at] = 20 + step;
    weights[at] = 1 + (step % 5);
    stamps.add(stampOf(items, weights));
  }
  expect(stamps.size).toBe(100_000);
});
